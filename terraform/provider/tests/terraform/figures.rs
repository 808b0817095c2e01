//! Figures, with `FIGURES=1`: a thousand schedules, the size of the program and the time to its schema.

use crate::server::Server;
use crate::terraform::Folder;
use std::time::Instant;

pub fn figures(server: &Server) {
    if std::env::var_os("FIGURES").is_none() {
        println!("  SKIPPED: FIGURES is not set");
        return;
    }
    let folder = Folder::new(
        server,
        "thousand",
        r#"
        resource "berth_schedule" "a" {
          count  = 1000
          name   = "thousand-${count.index}"
          timing = { specs = [{ every = { every = "24h" } }] }
          task   = { run = { noop = {} } }
        }
        "#,
    );
    let timed = |what: &str, work: &dyn Fn()| {
        let began = Instant::now();
        work();
        println!("  {what}: {:.1} s", began.elapsed().as_secs_f64());
    };
    timed("apply of 1000 new schedules", &|| folder.apply());
    timed("plan of 1000 unchanged schedules", &|| folder.is_done());
    timed("destroy of 1000 schedules", &|| folder.destroy());
}

use client::request::{HttpRun, Run};
use client::{Client, HttpMethod, NewTask};
use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let key = std::env::var("BERTH_API_KEY")?;
    let client = Client::builder("http://berth").api_key(key).build()?;
    let stored = client.submit(&task()?).await?;
    println!("{}", stored.id);
    Ok(())
}

fn task() -> Result<NewTask, Box<dyn Error>> {
    Ok(NewTask::new(Run {
        http: Some(HttpRun {
            method: Some("POST".parse::<HttpMethod>()?.into()),
            url: Some("https://example.com/hook?a=1".to_owned()),
            body: Some("{\"a\": \"ü\"}".to_owned()),
            ..HttpRun::default()
        }),
        ..Run::default()
    }))
}

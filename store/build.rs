//! Builds `store` again when a migration appears: `sqlx::migrate!` itself only sees those there were.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}

use client::{Client, NewTask};
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
    Ok(NewTask::command(["bash", "-c", "echo hi"]))
}

use client::request::{CommandRun, Pairs, Run};
use client::{Client, ConcurrencyKey, NewTask, PoolName, Tier};
use std::error::Error;
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let key = std::env::var("BERTH_API_KEY")?;
    let client = Client::builder("http://berth").api_key(key).build()?;
    let stored = client.submit(&task()?).await?;
    println!("{}", stored.id);
    Ok(())
}

fn task() -> Result<NewTask, Box<dyn Error>> {
    Ok(NewTask {
        concurrency_key: Some("one at a time".parse::<ConcurrencyKey>()?.into()),
        delay: Some(Duration::from_secs(7200).into()),
        delay_tolerance: Some(Duration::from_millis(1500).into()),
        execution_cap: Some(Duration::from_secs(90).into()),
        expire_if_late: Some(true),
        labels: Some(Pairs(vec![("env".to_owned(), "b=c".to_owned()), ("team".to_owned(), "<media> é".to_owned())])),
        max_attempts: Some(3),
        name: Some("it's \"quoted\"".to_owned()),
        pool: Some("default".parse::<PoolName>()?.into()),
        tier: Some(Tier::Regular),
        unique_key: Some("u".to_owned()),
        ..NewTask::new(Run {
            command: Some(CommandRun {
                argv: Some(vec!["bash".to_owned(), "-c".to_owned(), "echo 'a \\ \"b\"' $HOME\nexit 3".to_owned()]),
                env: Some(Pairs(vec![("A".to_owned(), "x y".to_owned())])),
                ..CommandRun::default()
            }),
            ..Run::default()
        })
    })
}

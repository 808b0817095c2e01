//! Redis as operators set it up: passwords, rights, replicas, clusters, certificates. Each test has its own.

use super::{plain, slow};
use crate::limit::shared::{Cause, Failure, NotRedis, Redis};
use domain::id::TenantId;
use runtime::clock::sleep;
use runtime::config::load_from;
use std::io::Write;
use std::time::Duration;
use testkit::authority::Authority;
use testkit::poll::until_some;
use testkit::services::{PrivateRedis, RedisCluster};

/// One at `url`, with further settings of `[redis]`.
fn at(url: &str, settings: &[(&str, &str)]) -> Result<Redis, NotRedis> {
    let all = [("URL", url), ("COMMAND_TIMEOUT", "2s"), ("CONNECT_TIMEOUT", "2s")];
    let all = all.iter().chain(settings);
    let environment =
        all.map(|(name, value)| (format!("BERTH_REDIS__{name}"), (*value).to_owned()));
    Redis::open(&load_from(None, environment).unwrap().redis)
}

/// Everything that is ever asked, once.
async fn all_calls(redis: &Redis) -> Result<(), Failure> {
    sleep(redis.report_served(Duration::ZERO).await?).await;
    redis.lease(TenantId::fresh(), &plain(slow(20), 15)).await?;
    Ok(())
}

#[tokio::test]
async fn what_keeps_a_redis_from_serving_is_named_with_what_to_do() {
    let redis = PrivateRedis::start().await.unwrap();
    let url = redis.url().unwrap();
    all_calls(&at(&url, &[]).unwrap()).await.unwrap();
    let failure = async |url: &str| {
        let away = all_calls(&at(url, &[]).unwrap()).await.unwrap_err();
        (away.cause(), away.explained())
    };
    let password = redis.password().unwrap();
    for wrong in [url.replace(&password, "wrong"), url.replace(&format!("default:{password}@"), "")]
    {
        let (cause, text) = failure(&wrong).await;
        assert_eq!(cause, Cause::Password, "{text}");
        assert!(text.contains("`redis.url`") && !text.contains(&password), "{text}");
    }
    let (cause, text) = failure(&url.replace(&redis.port().to_string(), "1")).await;
    assert_eq!(cause, Cause::Connection, "{text}");
    redis.run(&["replicaof", "127.0.0.1", "1"]).await.unwrap();
    let (cause, text) = failure(&url).await;
    assert_eq!(cause, Cause::ReadOnly, "{text}");
    assert!(text.contains("primary"), "{text}");
}

/// The rule of docs/limits.md, with its prefix.
fn documented_rule() -> Vec<&'static str> {
    let page = include_str!("../../../../../docs/limits.md");
    let rule = page.lines().find_map(|line| line.strip_prefix("ACL SETUSER berth ")).unwrap();
    rule.split_whitespace().collect()
}

#[tokio::test]
async fn a_user_needs_exactly_the_commands_that_are_documented() {
    let redis = PrivateRedis::start().await.unwrap();
    let (url, password) = (redis.url().unwrap(), redis.password().unwrap());
    let rule = documented_rule();
    let asked = async |rule: &[&str]| {
        redis.run(&["acl", "deluser", "berth"]).await.unwrap();
        // Scripts that somebody else has loaded would hide that loading is not allowed.
        redis.run(&["script", "flush"]).await.unwrap();
        redis.run(&["flushall"]).await.unwrap();
        redis.run(&[&["acl", "setuser", "berth"][..], rule].concat()).await.unwrap();
        let url = url.replace(&format!("default:{password}"), "berth:PASSWORD");
        all_calls(&at(&url, &[]).unwrap()).await
    };
    asked(&rule).await.unwrap();
    let granted = |part: &&str| part.starts_with('+') || part.starts_with('~');
    assert!(rule.iter().filter(|part| granted(part)).count() > 5, "{rule:?}");
    for without in rule.iter().filter(|part| granted(part)) {
        let rest: Vec<_> = rule.iter().filter(|part| *part != without).copied().collect();
        let away = asked(&rest).await.expect_err(without);
        assert_eq!(away.cause(), Cause::Permission, "without {without}: {}", away.explained());
        assert!(away.explained().contains("docs/limits.md"), "{}", away.explained());
    }
}

#[tokio::test]
async fn a_cluster_serves_whichever_of_its_nodes_is_named() {
    let cluster = RedisCluster::start().await.unwrap();
    let (mut keepers, mut others) = (Vec::new(), Vec::new());
    let tenant = TenantId::fresh();
    for node in cluster.nodes() {
        let redis = at(&node.url().unwrap(), &[("KEY_PREFIX", "berth-of-all")]).unwrap();
        // The first call may be redirected to another node, and buckets count soon after it.
        let lease = || async { redis.lease(tenant, &plain(slow(20), 1)).await.ok() };
        until_some("a lease", Duration::from_secs(10), lease).await.unwrap();
        let keeps = node.run(&["dbsize"]).await.unwrap() != "0";
        if keeps { &mut keepers } else { &mut others }.push(node);
    }
    let [keeper] = keepers[..] else { panic!("all keys are in one slot: {}", keepers.len()) };
    // Without that node the others serve nothing.
    for node in cluster.nodes() {
        node.run(&["config", "set", "cluster-node-timeout", "1000"]).await.unwrap();
    }
    keeper.freeze().unwrap();
    let url = others[0].url().unwrap();
    let down = || async {
        let redis = at(&url, &[("KEY_PREFIX", "berth-of-all")]).unwrap();
        let away = redis.lease(tenant, &plain(slow(20), 1)).await.err()?;
        away.explained().contains("CLUSTERDOWN").then_some(away)
    };
    let away = until_some("a cluster that is down", Duration::from_secs(20), down).await.unwrap();
    assert_eq!(away.cause(), Cause::Cluster);
    assert!(away.explained().contains("see CLUSTER INFO"), "{}", away.explained());
    keeper.thaw().unwrap();
}

#[tokio::test]
async fn a_redis_with_a_private_ca_is_trusted_by_name_of_its_file_and_no_other() {
    let authority = Authority::new("a private CA").unwrap();
    let (server, port) = PrivateRedis::start_secret(&authority).await.unwrap();
    let own = authority.issue("api").unwrap();
    let file = |text: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    };
    let (ca, certificate, key) =
        (file(&authority.certificate), file(&own.certificate), file(&own.key));
    let other = file(&Authority::new("another CA").unwrap().certificate);
    let [ca, other, certificate, key] =
        [&ca, &other, &certificate, &key].map(|file| file.path().to_str().unwrap());
    let url = format!("rediss://default:{}@localhost:{port}/0", server.password().unwrap());
    let client = [("CLIENT_CERT_FILE", certificate), ("CLIENT_KEY_FILE", key)];
    let with = |ca| [&[("CA_FILE", ca)][..], &client[..]].concat();
    all_calls(&at(&url, &with(ca)).unwrap()).await.unwrap();
    for (settings, words) in [
        (client.to_vec(), ["UnknownIssuer", "`redis.ca_file`"]),
        (with(other), ["UnknownIssuer", "`redis.ca_file`"]),
        (vec![("CA_FILE", ca)], ["CertificateRequired", "`redis.client_cert_file`"]),
    ] {
        let away = all_calls(&at(&url, &settings).unwrap()).await.unwrap_err();
        for word in words {
            assert!(away.explained().contains(word), "no {word} in {}", away.explained());
        }
    }
    // After a failure the next connection reads the files again.
    let renewed = file(&std::fs::read_to_string(other).unwrap());
    let redis = at(&url, &with(renewed.path().to_str().unwrap())).unwrap();
    all_calls(&redis).await.unwrap_err();
    std::fs::copy(ca, renewed.path()).unwrap();
    let works = || async { all_calls(&redis).await.ok() };
    until_some("a connection with the renewed CA", Duration::from_secs(10), works).await.unwrap();
    for (settings, words) in [
        (with("/no/such/file"), ["`redis.ca_file`", "/no/such/file"]),
        (with(key), ["`redis.ca_file`", "no certificate"]),
        (
            vec![("CLIENT_CERT_FILE", certificate), ("CLIENT_KEY_FILE", ca)],
            ["`redis.client_key_file`", "no private key"],
        ),
    ] {
        let error = at(&url, &settings).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
}

//! Logins of the services and the shared secrets.
#![expect(clippy::panic, reason = "a test helper that fails is a failed test")]

use runtime::config::{Config, ExposeSecret, ServiceRole, load_from};

const STRONG: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn with(environment: &[(&str, &str)]) -> Config {
    let owned = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    load_from(None, owned).unwrap_or_else(|error| panic!("{error}"))
}

fn url(config: &Config, role: ServiceRole) -> String {
    let url = config.database.service_url(role).unwrap_or_else(|error| panic!("{error}"));
    url.expose_secret().to_owned()
}

#[test]
fn a_services_login_is_derived_from_the_owners_url() {
    let config = with(&[
        ("BERTH_DATABASE__URL", "postgres://owner:top@db:5433/berth?sslmode=require"),
        ("BERTH_DATABASE__SERVICE_PASSWORD", "p@ss/word"),
    ]);
    for (role, user) in [
        (ServiceRole::Api, "berth_api"),
        (ServiceRole::Submit, "berth_submit"),
        (ServiceRole::Scheduler, "berth_scheduler"),
        (ServiceRole::ResourceManager, "berth_rm"),
        (ServiceRole::Notifier, "berth_notifier"),
        (ServiceRole::Admin, "berth_admin"),
    ] {
        let wanted = format!("postgres://{user}:p%40ss%2Fword@db:5433/berth?sslmode=require");
        assert_eq!(url(&config, role), wanted);
    }
}

#[test]
fn without_a_service_password_the_owners_is_not_passed_on() {
    let config =
        with(&[("BERTH_DATABASE__URL", "postgres://owner:top@db/berth?password=top&user=o")]);
    assert_eq!(url(&config, ServiceRole::Api), "postgres://berth_api@db/berth");
}

#[test]
fn a_socket_urls_login_goes_into_the_query() {
    let config = with(&[
        ("BERTH_DATABASE__URL", "postgres:///berth?host=/run/pg&user=owner"),
        ("BERTH_DATABASE__SERVICE_PASSWORD", "x"),
    ]);
    let url = url(&config, ServiceRole::ResourceManager);
    assert_eq!(url, "postgres:///berth?host=%2Frun%2Fpg&user=berth_rm&password=x");
}

#[test]
fn a_url_of_its_own_is_used_as_it_is() {
    let own = "postgres://someone:else@proxy:1/berth";
    let config = with(&[("BERTH_DATABASE__RM_URL", own)]);
    assert_eq!(url(&config, ServiceRole::ResourceManager), own);
    assert_eq!(url(&config, ServiceRole::Api), "postgres://berth_api@127.0.0.1:5432/berth");
}

#[test]
fn a_prefix_is_before_each_role_and_a_url_of_its_own_gives_its_password() {
    let config = with(&[
        ("BERTH_DATABASE__URL", "postgres://owner:top@db/berth"),
        ("BERTH_DATABASE__SERVICE_PASSWORD", "of all"),
        ("BERTH_DATABASE__ROLE_PREFIX", "eu_"),
        ("BERTH_DATABASE__RM_URL", "postgres://eu_berth_rm:of%20rm@pooler/berth"),
        (
            "BERTH_DATABASE__ADMIN_URL",
            "postgres:///berth?host=/run/pg&user=eu_berth_admin&password=adm",
        ),
        ("BERTH_DATABASE__SUBMIT_URL", "postgres://berth_submit:x@db/berth"),
    ]);
    assert_eq!(url(&config, ServiceRole::Api), "postgres://eu_berth_api:of%20all@db/berth");
    let password = |role| {
        let password = config.database.password_of(role).map_err(|error| error.to_string())?;
        Ok::<_, String>(password.map(|password| password.expose_secret().to_owned()))
    };
    assert_eq!(password(ServiceRole::Api), Ok(Some("of all".to_owned())));
    assert_eq!(password(ServiceRole::ResourceManager), Ok(Some("of rm".to_owned())));
    assert_eq!(password(ServiceRole::Admin), Ok(Some("adm".to_owned())));
    let error = password(ServiceRole::Submit).expect_err("another role's");
    assert!(error.contains("`database.submit_url` must log in as eu_berth_submit"), "{error}");
    for prefix in ["Eu_", "1_", "a-b", &"a".repeat(41)] {
        let set = [("BERTH_DATABASE__ROLE_PREFIX".to_owned(), prefix.to_owned())];
        assert!(load_from(None, set).is_err(), "{prefix}");
    }
}

#[test]
fn a_secret_is_asked_for_only_when_it_is_needed() {
    let config = with(&[]);
    let error = config.auth.key_hash_secret().expect_err("there is no default").to_string();
    assert!(error.contains("`auth.key_hash_secret` must be given"), "{error}");
    assert!(error.contains("BERTH_AUTH__KEY_HASH_SECRET"), "{error}");
    assert!(config.auth.executor_secret().is_err());
}

#[test]
fn a_weak_secret_is_refused_and_never_quoted() {
    for weak in [
        "too-brief-7",
        &"a".repeat(64),
        "0123456789abcdef0123456789abcdef",
        "secretsecretsecretsecretsecretsecret",
        "please-ChangeMe-8f2b7c6d5e4f3a2b1c0d",
        "this-is-an-example-of-a-long-secret-7",
    ] {
        let config = with(&[("BERTH_AUTH__KEY_HASH_SECRET", weak)]);
        let error = config.auth.key_hash_secret().expect_err(weak).to_string();
        assert!(!error.contains(weak), "{error}");
    }
    let config = with(&[("BERTH_AUTH__KEY_HASH_SECRET", STRONG)]);
    assert_eq!(config.auth.key_hash_secret().expect("a strong one").expose_secret(), STRONG);
}

#[test]
fn executors_must_not_hold_the_key_hash_secret() {
    let both = [("BERTH_AUTH__KEY_HASH_SECRET", STRONG), ("BERTH_AUTH__EXECUTOR_SECRET", STRONG)];
    assert!(with(&both).auth.executor_secret().is_err());
    assert!(with(&both[1..]).auth.executor_secret().is_ok());
}

#[test]
fn signing_in_needs_a_strong_key_of_its_own_and_a_previous_one_never_stands_alone() {
    const OTHER: &str = "b7d1f0e2a3c4958671625344f5e6d7c8";
    assert!(with(&[]).auth.jwt_keys().expect("nothing given").is_none());
    let (present, previous) = ("BERTH_AUTH__JWT_KEY", "BERTH_AUTH__JWT_PREVIOUS_KEY");
    let config = with(&[(present, STRONG), (previous, OTHER)]);
    let keys = config.auth.jwt_keys().expect("both are strong").expect("both are given");
    assert_eq!(keys.present.expose_secret(), STRONG);
    assert_eq!(keys.previous.map(ExposeSecret::expose_secret), Some(OTHER));
    for (settings, named) in [
        (vec![(present, "too-brief-7")], "`auth.jwt_key` is shorter than 32 bytes"),
        (vec![(present, STRONG), (previous, "too-brief-7")], "`auth.jwt_previous_key` is shorter"),
        (vec![(previous, STRONG)], "`auth.jwt_previous_key` stands alone"),
        (vec![(present, STRONG), ("BERTH_AUTH__KEY_HASH_SECRET", STRONG)], "must differ"),
    ] {
        let error = with(&settings).auth.jwt_keys().expect_err(named).to_string();
        assert!(error.contains(named) && !error.contains("too-brief-7"), "{error}");
    }
}

#[test]
fn an_executor_is_named_after_its_host_unless_told_otherwise() {
    assert!(with(&[]).executor.id().is_ok());
    let named = with(&[("BERTH_EXECUTOR__ID", "eu-7")]);
    assert_eq!(named.executor.id().expect("a name").as_str(), "eu-7");
}

#[test]
fn only_loopback_is_listened_on_unless_set() {
    let listens: Vec<&str> = runtime::config::DEFAULT_TOML
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| name.trim_end().ends_with("listen"))
        .map(|(_, value)| value.trim().trim_matches('"'))
        // An address that is not listened on.
        .filter(|listen| !listen.is_empty())
        .collect();
    assert!(listens.len() >= 4, "{listens:?}");
    for listen in listens {
        let address: std::net::SocketAddr = listen.parse().expect(listen);
        assert!(address.ip().is_loopback(), "{listen}");
    }
}

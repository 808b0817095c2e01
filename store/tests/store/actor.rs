//! Whoever was let in a moment ago gives no access away once their own is over.

use crate::support::{World, new_key};
use domain::access::{PermissionSet, Role};
use domain::id::{PublicKeyId, RequestId, SignInId, UserId};
use std::time::Duration;
use store::TenantScope;
use store::audit::{Actor, By};
use store::idempotency::Once;
use store::key::{self, NewOwnKey, NewSecret, Rotated, Rotation};
use store::sign_in::NewSignIn;
use store::user::{self, Change, Changed, Entry, NewUser, WantedChange};

const HOUR: Duration = Duration::from_secs(3600);

async fn new_user(world: &World, scope: &TenantScope, email: &str) -> (UserId, user::Created) {
    let entry = Entry::Password("$argon2id$".to_owned());
    let new = NewUser { id: UserId::fresh(), email: email.to_owned(), role: Role::Admin, entry };
    let id = new.id;
    match user::create(&world.api, scope, new, None, |_| Vec::new()).await.unwrap() {
        Once::Done(created) => (id, created),
        other => panic!("{other:?}"),
    }
}

/// Tries each way to give access; says which it was let do.
async fn let_do(world: &World, scope: &TenantScope, round: u8) -> [bool; 4] {
    let id = |kind: char| format!("{}{kind}", char::from(b'f' + round).to_string().repeat(11));
    let own = TenantScope::of_role(scope.tenant());
    key::create(&world.admin, new_key(&id('o'), scope.tenant()), By::SYSTEM).await.unwrap();
    let (target, _) = new_user(world, &own, &format!("target{round}@example.com")).await;
    let new = NewOwnKey { key: new_key(&id('m'), scope.tenant()), user: None };
    let made = key::create_own(&world.api, scope, new, None, |_| Vec::new());
    let made = match made.await.unwrap() {
        Once::Done(key::Created::Done(_)) => true,
        Once::Done(key::Created::ActorEnded) => false,
        other => panic!("{other:?}"),
    };
    let old = id('o');
    let new = NewSecret { id: id('n'), hash: vec![0; 32] };
    let rotation = Rotation { key_id: &old, of: None, by: None, overlap: HOUR, new };
    let rotated = key::rotate(&world.api, scope, rotation, None, |_, _| Vec::new());
    let rotated = match rotated.await.unwrap() {
        Once::Done(Rotated::Done { .. }) => true,
        Once::Done(Rotated::ActorEnded) => false,
        other => panic!("{other:?}"),
    };
    let created = match new_user(world, scope, &format!("new{round}@example.com")).await.1 {
        user::Created::Done(_) => true,
        user::Created::ActorEnded => false,
        other @ user::Created::EmailTaken => panic!("{other:?}"),
    };
    let all = Role::Owner.permissions();
    let changed = change(world, scope, target, all).await;
    [made, rotated, created, changed]
}

async fn change(world: &World, scope: &TenantScope, user: UserId, all: PermissionSet) -> bool {
    let change = Change::Role(Role::Viewer);
    let wanted = WantedChange { user, if_version: None, change, permissions: all };
    match user::change(&world.api, scope, wanted).await.unwrap() {
        Changed::Done(_) => true,
        Changed::ActorEnded => false,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn who_acts_gives_access_only_while_their_key_or_sign_in_lives() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let platform = TenantScope::of_role(tenant);
    let (ann, _) = new_user(&world, &platform, "ann@example.com").await;
    let sign_in = SignInId::fresh();
    let begun = NewSignIn {
        id: sign_in,
        tenant,
        user: ann,
        token_version: 1,
        refresh_hash: [7; 32],
        life: HOUR,
    };
    store::sign_in::begin(&world.submit, begun, By::SYSTEM).await.unwrap();
    let public = *b"aaaaaaaaaaaa";
    key::create(&world.admin, new_key("aaaaaaaaaaaa", tenant), By::SYSTEM).await.unwrap();

    let key = "update api_key set";
    let of_key = "where id = 'aaaaaaaaaaaa'";
    let of_user = format!("where tenant_id = '{}'", tenant.uuid());
    let ends = [
        (Actor::Key(PublicKeyId(public)), format!("{key} revoked_at = now() {of_key}")),
        (
            Actor::Key(PublicKeyId(public)),
            format!("{key} expires_at = now() - interval '1 s', revoked_at = null {of_key}"),
        ),
        (Actor::User(ann, Some(sign_in)), format!("update sign_in set ended_at = now() {of_user}")),
        (
            Actor::User(ann, Some(sign_in)),
            format!(
                "update sign_in set ended_at = null {of_user}; update app_user set token_version = 2 {of_user}"
            ),
        ),
    ];
    let lives = format!(
        "{key} revoked_at = null, expires_at = null {of_key}; update sign_in set ended_at = null {of_user}"
    );
    for (round, (actor, end)) in (0..).step_by(2).zip(ends) {
        let scope = platform.acting(By::new(actor, RequestId { process: 1, number: 1 }));
        world.sql(lives.as_str()).await;
        assert_eq!(let_do(&world, &scope, round).await, [true; 4], "{actor:?}");
        world.sql(end.as_str()).await;
        assert_eq!(let_do(&world, &scope, round + 1).await, [false; 4], "{actor:?}: {end}");
    }
    assert_eq!(let_do(&world, &platform, 8).await, [true; 4], "the platform itself");
}

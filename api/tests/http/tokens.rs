//! Forged access tokens (C7): whatever is wrong with one, it is a 401, at once, and in the same words.

use crate::server::Server;
use crate::users::{JWT, server, signed_in, user};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::access::Role;
use hmac::{Hmac, KeyInit, Mac};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::Sha256;
use std::time::Duration;

type HmacSha256 = Hmac<Sha256>;

/// The installation's own key, derived as the installation does: with it, only the claims are wrong.
fn own_key(secret: &str) -> Ed25519KeyPair {
    let mac = HmacSha256::new_from_slice(secret.as_bytes()).unwrap();
    let seed: [u8; 32] = mac.chain_update(b"berth access token v1").finalize().into_bytes().into();
    Ed25519KeyPair::from_seed_unchecked(&seed).unwrap()
}

fn part(json: &Value) -> String {
    URL_SAFE_NO_PAD.encode(json.to_string())
}

fn signed(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", part(header), part(claims));
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(sign(message.as_bytes())))
}

fn read(token: &str, at: usize) -> Value {
    let part = token.split('.').nth(at).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

fn with(json: &Value, name: &str, value: Value) -> Value {
    let mut json = json.clone();
    json[name] = value;
    json
}

fn without(json: &Value, name: &str) -> Value {
    let mut json = json.clone();
    json.as_object_mut().unwrap().remove(name);
    json
}

/// Header and claims are a good token's; so all that is wrong with each is what it is here for.
fn forged(good: &str, others: &str) -> Vec<String> {
    let (header, claims) = (read(good, 0), read(good, 1));
    let own = own_key(JWT.1);
    let by_us = |message: &[u8]| own.sign(message).as_ref().to_vec();
    let stranger = own_key("another secret, as long as ours is");
    let by_stranger = |message: &[u8]| stranger.sign(message).as_ref().to_vec();
    let kid = header["kid"].as_str().unwrap();
    let now = claims["iat"].as_i64().unwrap();
    let mut all = Vec::new();

    // No algorithm, with and without something in the place of a signature.
    for name in ["none", "None", "NONE", "nOnE", ""] {
        let none = with(&header, "alg", json!(name));
        all.push(format!("{}.{}.", part(&none), part(&claims)));
        all.push(signed(&none, &claims, by_us));
    }
    // HMAC with what everybody may know: the public key, its name, nothing.
    let public = own.public_key().as_ref();
    for secret in [public, URL_SAFE_NO_PAD.encode(public).as_bytes(), kid.as_bytes(), &b""[..]] {
        let hmac = |message: &[u8]| {
            let mac = HmacSha256::new_from_slice(secret).unwrap();
            mac.chain_update(message).finalize().into_bytes().to_vec()
        };
        for name in ["HS256", "HS512", "EdDSA"] {
            all.push(signed(&with(&header, "alg", json!(name)), &claims, hmac));
        }
    }
    // Algorithms that we do not speak, though it is our signature.
    for name in ["RS256", "PS256", "ES256", "ES384", "Ed448", "eddsa"] {
        all.push(signed(&with(&header, "alg", json!(name)), &claims, by_us));
    }
    // Keys that are not ours, named in every way.
    for name in [kid, "../../../../dev/null", "' or 1=1 --", "\u{0}", "0", "http://evil/jwks.json"]
    {
        all.push(signed(&with(&header, "kid", json!(name)), &claims, by_stranger));
    }
    for name in
        ["../../dev/null", "' union select '", &kid[..15], &kid.to_uppercase().repeat(2), ""]
    {
        all.push(signed(&with(&header, "kid", json!(name)), &claims, by_us));
    }
    all.push(signed(&without(&header, "kid"), &claims, by_us));
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(stranger.public_key().as_ref())});
    all.push(signed(&with(&header, "jwk", jwk), &claims, by_stranger));
    all.push(signed(&with(&header, "crit", json!(["exp"])), &claims, by_us));
    // Our signature under claims that are not enough.
    for name in ["exp", "nbf", "iss", "aud", "sub", "sid", "tenant"] {
        all.push(signed(&header, &without(&claims, name), by_us));
    }
    let other = read(others, 1);
    for (name, value) in [
        ("exp", json!(now - 30)),
        ("exp", json!(0)),
        ("exp", json!(-1)),
        ("exp", json!("9999999999")),
        ("nbf", json!(now + 60)),
        ("nbf", json!(u64::MAX)),
        ("iss", json!("berth:stage")),
        ("aud", json!("somebody")),
        ("aud", json!([])),
        ("sub", other["sub"].clone()),
        ("sub", json!("' or 1=1 --")),
        ("tenant", other["tenant"].clone()),
        ("sid", other["sid"].clone()),
        ("sid", json!("signin_00000000000000000000000000000000")),
    ] {
        all.push(signed(&header, &with(&claims, name, value), by_us));
    }
    // Pieces.
    all.extend([
        "..".to_owned(),
        format!("{good}.x.y"),
        format!("{good}A"),
        good.replace('.', ".."),
    ]);
    all.push(format!("{}.{}", &good[..good.rfind('.').unwrap()], "A".repeat(86)));
    all
}

/// A user of another tenant.
async fn stranger(server: &Server) -> String {
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &crate::server::ALL_SCOPES).await;
    let spec =
        json!({"email": "eve@example.com", "role": "admin", "password": crate::users::PASSWORD});
    assert_eq!(server.post_as(&key, "/v1/users", &[], spec.to_string()).await.status, 201);
    let body =
        json!({"tenant": "second", "email": "eve@example.com", "password": crate::users::PASSWORD});
    let answer = server.post("/v1/sessions", body.to_string()).await;
    answer.json()["access_token"].as_str().unwrap().to_owned()
}

/// What is measured has the machine to itself.
mod alone {
    use super::*;

    #[tokio::test]
    async fn sixty_forged_tokens_are_sixty_refusals_at_once_and_alike() {
        let server = server().await;
        user(&server, "ann@example.com", Role::Owner).await;
        let (good, _) = signed_in(&server, "ann@example.com").await;
        let others = stranger(&server).await;
        assert_eq!(server.get_as(&good, "/v1/tasks").await.status, 200);
        // That the forger knows how: with nothing wrong it is taken.
        let own = own_key(JWT.1);
        let copy =
            signed(&read(&good, 0), &read(&good, 1), |message| own.sign(message).as_ref().to_vec());
        assert_eq!(server.get_as(&copy, "/v1/tasks").await.status, 200);

        let forged = forged(&good, &others);
        assert!(forged.len() >= 60, "{}", forged.len());
        let (mut slowest, mut details) = (Duration::ZERO, std::collections::BTreeSet::new());
        for token in &forged {
            // The faster of two: other tests may have the processor for a while, and it is the work that counts.
            let mut fastest = Duration::MAX;
            for _ in 0..2 {
                let asked = runtime::clock::monotonic();
                let answer = server.get_as(token, "/v1/tasks").await;
                fastest = fastest.min(asked.elapsed());
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (401, "unauthenticated"),
                    "{token}"
                );
                details.insert(answer.json()["detail"].as_str().unwrap().to_owned());
            }
            slowest = slowest.max(fastest);
        }
        println!("{} forged tokens, the slowest answer after {slowest:?}", forged.len());
        assert!(slowest <= Duration::from_millis(50), "{slowest:?}");
        // Two, because what has not three parts is no token but a malformed key.
        assert!(details.len() <= 2, "{details:?}");
        assert_eq!(server.get_as(&good, "/v1/tasks").await.status, 200);
    }
}

#[tokio::test]
async fn keys_of_tokens_are_changed_without_a_refusal() {
    const NEXT: &str = "a1b2c3d4e5f60718293a4b5c6d7e8f90";
    let server = server().await;
    user(&server, "ann@example.com", Role::Viewer).await;
    let (old, _) = signed_in(&server, "ann@example.com").await;
    let rotated = [("BERTH_AUTH__JWT_KEY", NEXT), ("BERTH_AUTH__JWT_PREVIOUS_KEY", JWT.1)];
    let after = server.twin_with(&rotated).await;
    let bearer = format!("Bearer {old}");
    let headers = [("Authorization", bearer.as_str())];
    let answer = crate::client::request(after.addr, "GET", "/v1/tasks", &headers, b"").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let done = server.twin_with(&rotated[..1]).await;
    let answer = crate::client::request(done.addr, "GET", "/v1/tasks", &headers, b"").await;
    assert_eq!(answer.status, 401, "once the previous key is gone");
}

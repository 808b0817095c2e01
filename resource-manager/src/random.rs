//! Chance, for waits that must not all end at the same time.

/// A random number in 0.0..1.0, from the random bits of a UUID.
pub(crate) fn unit() -> f64 {
    (uuid::Uuid::new_v4().as_u128() & 0xffff_ffff) as f64 / f64::from(u32::MAX)
}

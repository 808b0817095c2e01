//! Chance, for waits that must not all end at the same time.

/// A random number in 0.0..1.0.
#[must_use]
pub fn unit() -> f64 {
    rand::random()
}

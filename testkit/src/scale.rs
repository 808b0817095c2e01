//! How often a test repeats what it asserts: the same assertions with fewer rounds in `make test`, and in full with `SCALE=1`.

/// `full` rounds where `SCALE=1` is set, else the `usual`.
#[must_use]
pub fn rounds(usual: usize, full: usize) -> usize {
    let is_full = std::env::var("SCALE").is_ok_and(|scale| scale == "1");
    if is_full { full } else { usual }
}

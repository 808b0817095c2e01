//! Random numbers, the same on every machine for the same seed.

/// `SplitMix64` (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Evenly from `least` up to, not including, `most`.
    pub fn uniform(&mut self, least: f64, most: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        least + unit * (most - least)
    }

    /// Evenly one of `0..count`.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.uniform(0.0, 1.0) * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// Exponential.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform(0.0, 1.0)).ln()
    }

    /// The exponential of a normal number (Box and Muller).
    pub fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform(0.0, 1.0)).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.uniform(0.0, 1.0)).cos();
        median * (sigma * normal).exp()
    }

    /// Pareto: heavy-tailed for an `alpha` below 2.
    pub fn pareto(&mut self, least: f64, alpha: f64) -> f64 {
        least * (1.0 - self.uniform(0.0, 1.0)).powf(-1.0 / alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(mut draw: impl FnMut(&mut Random) -> f64) -> f64 {
        let mut random = Random::new(1);
        (0..100_000).map(|_| draw(&mut random)).sum::<f64>() / 1e5
    }

    #[test]
    fn the_means_are_those_of_the_distributions() {
        assert!((mean(|r| r.uniform(1.0, 3.0)) - 2.0).abs() < 0.01);
        assert!((mean(|r| r.exponential(0.2)) - 0.2).abs() < 0.002);
        assert!((mean(|r| r.lognormal(0.25, 0.5)) - 0.25 * 0.125f64.exp()).abs() < 0.002);
        assert!((mean(|r| r.pareto(1.0, 3.0)) - 1.5).abs() < 0.02);
        assert!((mean(|r| r.below(4) as f64) - 1.5).abs() < 0.02);
    }

    #[test]
    fn a_seed_gives_its_own_sequence() {
        let draw = |seed| Random::new(seed).next();
        assert_eq!(draw(0), 0xe220_a839_7b1d_cdaf, "the published first number");
        assert_ne!(draw(1), draw(2));
    }
}

//! How many cards are behind MIG instances.
//!
//! Instances of several profiles share cards, so profiles cannot be counted one by one: the cards are the smallest number
//! whose compute and memory slices hold all instances. Feature discovery's `gpu.count`, which stays the number of cards
//! under strategy mixed (k8s-device-plugin#1501), is preferred where it is present.

use super::catalogue::{self, MigTable};

/// Cards behind `units` of one profile, or `None` when the model and its table leave it open.
pub fn cards(table: Option<&MigTable>, profile: &str, units: i64) -> Option<i64> {
    least_cards(table, &[(profile, units)])
}

/// The least number of cards that hold all the units, given as profile and count.
pub fn least_cards(table: Option<&MigTable>, units: &[(&str, i64)]) -> Option<i64> {
    let Some(table) = table else {
        // Without a model there are no slices to add up; different profiles are taken to be on different cards.
        return units.iter().try_fold(0_i64, |sum, (profile, count)| {
            sum.checked_add(ceil(*count, catalogue::mig_units_of_any_model(profile)?)?)
        });
    };
    let (mut least, mut compute, mut memory) = (0_i64, 0_i64, 0_i64);
    for (profile, count) in units {
        let cut = table.cut(profile)?;
        let instances = ceil(*count, cut.per_instance)?;
        least = least.max(ceil(instances, cut.instances)?);
        compute = compute.checked_add(instances.checked_mul(cut.compute)?)?;
        memory = memory.checked_add(instances.checked_mul(cut.memory)?)?;
    }
    Some(least.max(ceil(compute, table.compute)?).max(ceil(memory, table.memory)?))
}

/// `count / per`, rounded up; `None` for nothing per card.
pub fn ceil(count: i64, per: i64) -> Option<i64> {
    (per > 0).then(|| count / per + i64::from(count % per != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a100_40() -> Option<&'static MigTable> {
        catalogue::mig_table("NVIDIA-A100-SXM4-40GB", None)
    }

    #[test]
    fn one_profile_is_divided_by_what_fits_on_a_card_of_that_model() {
        assert_eq!(cards(a100_40(), "1g.5gb", 56), Some(8));
        assert_eq!(cards(a100_40(), "1g.10gb", 16), Some(4), "four per 40 GB card, not seven");
        assert_eq!(cards(a100_40(), "1g.5gb", 0), Some(0));
        assert_eq!(cards(a100_40(), "9g.1gb", 1), None, "an unknown cut says nothing");
        assert_eq!(
            cards(a100_40(), "1c.3g.20gb", 12),
            Some(2),
            "three compute instances in each of two instances"
        );
        assert_eq!(cards(None, "1g.10gb", 7), None, "ambiguous without a model");
        assert_eq!(cards(None, "1g.5gb", 7), Some(1));
    }

    #[test]
    fn profiles_that_fit_together_share_a_card() {
        assert_eq!(
            least_cards(a100_40(), &[("1g.5gb", 2), ("2g.10gb", 1), ("3g.20gb", 1)]),
            Some(1),
            "balanced layout"
        );
        assert_eq!(
            least_cards(a100_40(), &[("1g.5gb", 3), ("2g.10gb", 1), ("3g.20gb", 1)]),
            Some(2),
            "eight of seven"
        );
        assert_eq!(
            least_cards(a100_40(), &[("4g.20gb", 1), ("2g.10gb", 2)]),
            Some(2),
            "compute runs out before memory"
        );
        assert_eq!(
            least_cards(a100_40(), &[("1g.10gb", 4), ("3g.20gb", 1)]),
            Some(2),
            "memory runs out before compute"
        );
    }
}

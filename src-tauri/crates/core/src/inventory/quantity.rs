//! Kubernetes quantities in exact arithmetic.
//!
//! Grammar (k8s.io/apimachinery `pkg/api/resource`): an optional sign, digits with an optional fraction, then either a
//! decimal suffix (`n u m k M G T P E`), a binary suffix (`Ki` .. `Ei`), or a decimal exponent (`e3`, `E+3`). A bare `E`
//! is exa, `E` followed by an integer is an exponent. The smallest unit is 10^-9; finer digits round away from zero, as
//! upstream does.
//!
//! Invariant: a value is an integer number of nano-units in `i128`; nothing here is a float and nothing wraps.
//! Deliberately absent: formatting back into the shortest suffix, and any opinion on which values are plausible.

use std::str::FromStr;

use serde::Serialize;

/// 10^9: nano-units in one unit.
const NANO: i128 = 1_000_000_000;

/// A parsed quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    nanos: i128,
}

/// Why a text is not a quantity that can be counted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text is outside the grammar.
    #[error("not a Kubernetes quantity")]
    Malformed,
    /// The text is a quantity, but larger than 2^63-1 units.
    #[error("larger than a 64-bit integer can hold")]
    Overflow,
}

impl QuantityError {
    /// Stable name of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed => "quantity_malformed",
            Self::Overflow => "quantity_overflow",
        }
    }
}

impl Quantity {
    /// No units.
    pub const ZERO: Self = Self { nanos: 0 };

    /// A whole number of units.
    pub fn whole(units: i64) -> Self {
        Self { nanos: i128::from(units) * NANO }
    }

    /// Whole units, rounded down (towards negative infinity).
    pub fn floor(self) -> i64 {
        clamp(self.nanos.div_euclid(NANO))
    }

    /// Thousandths of a unit, rounded up, as the scheduler counts CPU.
    pub fn millis(self) -> i64 {
        let per_milli = NANO / 1000;
        clamp(self.nanos.div_euclid(per_milli) + i128::from(self.nanos.rem_euclid(per_milli) != 0))
    }

    /// Whether the value has a part smaller than one unit.
    pub fn is_fractional(self) -> bool {
        self.nanos % NANO != 0
    }

    /// Whether the value is below zero.
    pub fn is_negative(self) -> bool {
        self.nanos < 0
    }
}

/// Every parsed quantity fits an `i64` in units; millis of a huge one saturate instead of wrapping.
fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

impl FromStr for Quantity {
    type Err = QuantityError;

    /// Parses one quantity; blanks around it are ignored.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let number_len = unsigned.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (number, suffix) = unsigned.split_at(number_len);
        let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (integer.is_empty() && fraction.is_empty()) {
            return Err(QuantityError::Malformed);
        }
        let scale = Scale::of(suffix).ok_or(QuantityError::Malformed)?;
        let fraction = fraction.trim_end_matches('0');
        let digits = digits_of(integer, fraction)?;
        let magnitude = scale.apply(digits, fraction.len())?;
        let nanos = if negative { -magnitude } else { magnitude };
        if i64::try_from(nanos.div_euclid(NANO)).is_err() {
            return Err(QuantityError::Overflow);
        }
        Ok(Self { nanos })
    }
}

/// The digits of a number without its point, as one integer.
fn digits_of(integer: &str, fraction: &str) -> Result<i128, QuantityError> {
    integer.bytes().chain(fraction.bytes()).try_fold(0_i128, |value, digit| {
        value
            .checked_mul(10)
            .and_then(|value| value.checked_add(i128::from(digit - b'0')))
            .ok_or(QuantityError::Overflow)
    })
}

/// What a suffix multiplies by: a power of ten and a power of 1024.
struct Scale {
    decimal: i64,
    binary: u32,
}

impl Scale {
    fn of(suffix: &str) -> Option<Self> {
        let scale = |decimal, binary| Some(Self { decimal, binary });
        match suffix {
            "" => scale(0, 0),
            "n" => scale(-9, 0),
            "u" => scale(-6, 0),
            "m" => scale(-3, 0),
            "k" => scale(3, 0),
            "M" => scale(6, 0),
            "G" => scale(9, 0),
            "T" => scale(12, 0),
            "P" => scale(15, 0),
            "E" => scale(18, 0),
            "Ki" => scale(0, 1),
            "Mi" => scale(0, 2),
            "Gi" => scale(0, 3),
            "Ti" => scale(0, 4),
            "Pi" => scale(0, 5),
            "Ei" => scale(0, 6),
            _ => {
                let exponent = suffix.strip_prefix(['e', 'E'])?;
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return None;
                }
                // An exponent too long for an i64 is far outside the range either way.
                let far = if exponent.starts_with('-') { -1000 } else { 1000 };
                scale(exponent.parse::<i64>().unwrap_or(far).clamp(-1000, 1000), 0)
            }
        }
    }

    /// `digits * 10^-fraction_digits`, scaled, in nano-units.
    fn apply(&self, digits: i128, fraction_digits: usize) -> Result<i128, QuantityError> {
        if digits == 0 {
            return Ok(0);
        }
        let scaled = 1024_i128
            .checked_pow(self.binary)
            .and_then(|binary| digits.checked_mul(binary))
            .ok_or(QuantityError::Overflow)?;
        let fraction_digits = i64::try_from(fraction_digits).map_err(|_| QuantityError::Overflow)?;
        let power = self.decimal + 9 - fraction_digits;
        let Ok(places) = u32::try_from(power.unsigned_abs()) else {
            return Err(QuantityError::Overflow);
        };
        match 10_i128.checked_pow(places) {
            Some(factor) if power >= 0 => scaled.checked_mul(factor).ok_or(QuantityError::Overflow),
            // Finer than nano: round away from zero.
            Some(factor) => Ok(scaled / factor + i128::from(scaled % factor != 0)),
            None if power >= 0 => Err(QuantityError::Overflow),
            None => Ok(1),
        }
    }
}

/// What is wrong with a count that was read from an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flaw {
    /// A JSON number where the API says string; its value is used (Go's reader accepts it).
    NonString,
    /// Not a quantity: the value is unknown.
    Malformed,
    /// Larger than 2^63-1: the value is unknown.
    Overflow,
    /// Not a whole number of devices: rounded down.
    Fractional,
    /// Below zero: counted as zero.
    Negative,
}

/// A count of devices as an object states it. Absent, unreadable and zero are three different readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Count {
    /// Whole units, never negative; `None` when the text could not be read.
    pub units: Option<i64>,
    /// What was wrong with the text, if anything.
    pub flaw: Option<Flaw>,
}

impl Count {
    /// No units, read without trouble.
    pub const ZERO: Self = Self { units: Some(0), flaw: None };

    /// A count that could not be read.
    pub const UNREADABLE: Self = Self { units: None, flaw: Some(Flaw::Malformed) };

    /// Reads a count of whole devices from a quantity text.
    pub fn parse(text: &str) -> Self {
        match text.parse::<Quantity>() {
            Err(QuantityError::Malformed) => Self::UNREADABLE,
            Err(QuantityError::Overflow) => Self { units: None, flaw: Some(Flaw::Overflow) },
            Ok(quantity) if quantity.is_negative() => Self { units: Some(0), flaw: Some(Flaw::Negative) },
            Ok(quantity) => Self {
                units: Some(quantity.floor()),
                flaw: quantity.is_fractional().then_some(Flaw::Fractional),
            },
        }
    }

    /// Reads a count that was written as a JSON number; `text` is the number as it is spelt in decimal.
    pub fn parse_number(text: &str) -> Self {
        let count = Self::parse(text);
        Self { flaw: count.flaw.or(Some(Flaw::NonString)), ..count }
    }

    /// Adds two counts: unknown stays unknown, sums saturate, the first flaw is kept.
    pub fn plus(self, other: Self) -> Self {
        Self {
            units: self.units.zip(other.units).map(|(a, b)| a.saturating_add(b)),
            flaw: self.flaw.or(other.flaw),
        }
    }

    /// The larger of two counts: unknown stays unknown, the first flaw is kept.
    pub fn max(self, other: Self) -> Self {
        Self { units: self.units.zip(other.units).map(|(a, b)| a.max(b)), flaw: self.flaw.or(other.flaw) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Result<i64, QuantityError> {
        text.parse::<Quantity>().map(Quantity::floor)
    }

    #[test]
    fn every_form_of_the_grammar_is_read_exactly() {
        for (text, expected) in [
            ("8", 8),
            (" 8 ", 8),
            ("+8", 8),
            ("8.", 8),
            (".5k", 500),
            ("8.0", 8),
            ("1k", 1000),
            ("1e1", 10),
            ("1E1", 10),
            ("1E+2", 100),
            ("5e-1", 0),
            ("3000m", 3),
            ("3145728e3", 3_145_728_000),
            ("608u", 0),
            ("1Ki", 1024),
            ("1.5Gi", 1_610_612_736),
            ("8E", 8_000_000_000_000_000_000),
            ("7Ei", 8_070_450_532_247_928_832),
            ("9223372036854775807", i64::MAX),
            ("0e9999999999999999999", 0),
            ("-1", -1),
        ] {
            assert_eq!(units(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn texts_outside_the_grammar_are_malformed() {
        for text in [
            "", " ", "abc", "0x8", "1,000", "k", "1K", "1 k", "1e", "1e+", "1.2.3", ".", "--1", "+", "1Kib",
            "٣",
        ] {
            assert_eq!(units(text), Err(QuantityError::Malformed), "{text:?}");
        }
    }

    #[test]
    fn values_beyond_a_64_bit_integer_overflow_instead_of_wrapping() {
        for text in
            ["9223372036854775808", "99999999999999999999", "8Ei", "10E", "1e19", "1e1000", &"9".repeat(60)]
        {
            assert_eq!(units(text), Err(QuantityError::Overflow), "{text}");
        }
    }

    #[test]
    fn cpu_millis_round_up() {
        for (text, millis) in [("250m", 250), ("1", 1000), ("0.1", 100), ("100u", 1), ("1n", 1), ("0", 0)] {
            assert_eq!(text.parse::<Quantity>().map(Quantity::millis), Ok(millis), "{text}");
        }
    }

    #[test]
    fn a_count_keeps_unknown_apart_from_zero() {
        assert_eq!(Count::parse("500m"), Count { units: Some(0), flaw: Some(Flaw::Fractional) });
        assert_eq!(Count::parse("-3"), Count { units: Some(0), flaw: Some(Flaw::Negative) });
        assert_eq!(Count::parse("x"), Count { units: None, flaw: Some(Flaw::Malformed) });
        assert_eq!(Count::parse_number("8"), Count { units: Some(8), flaw: Some(Flaw::NonString) });
        assert_eq!(Count::parse("x").plus(Count::parse("1")).units, None, "unknown plus one is unknown");
        assert_eq!(
            Count::parse("x").max(Count::parse("1")).units,
            None,
            "the larger of unknown and one is unknown"
        );
    }
}

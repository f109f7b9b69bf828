//! Reading YAML whose shape cannot be trusted: where a text, a list or a mapping belongs, anything may stand, and what
//! stands there is noted instead of ending the whole read. One odd entry never hides the others.
//!
//! Invariants: of two equal keys the last counts (as kubectl reads them); a number or a boolean is never turned into
//! text, since `1.10` and `0x1f` would not come out as they were written; text is wiped when dropped.
//!
//! Deliberately absent: any judgement of what was read.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use zeroize::Zeroizing;

/// What stands in a place where a `T` belongs.
#[derive(Default)]
pub enum Lenient<T> {
    /// Nothing, or `null`.
    #[default]
    Absent,
    /// A `T`.
    Is(T),
    /// Something else, in words.
    Odd(&'static str),
}

impl<T> Lenient<T> {
    /// The `T`, where there is one.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Is(value) => Some(value),
            Self::Absent | Self::Odd(_) => None,
        }
    }

    /// Whether anything but `null` stands there.
    pub fn is_present(&self) -> bool {
        !matches!(self, Self::Absent)
    }
}

impl<T> Lenient<Vec<T>> {
    /// The entries; none where there is no list.
    pub fn entries(&self) -> &[T] {
        self.get().map_or(&[], Vec::as_slice)
    }
}

/// Something that is made of one kind of YAML node, and refuses the others by `None`.
pub trait Shape<'de>: Sized {
    /// From a text scalar.
    fn from_text(_text: Zeroizing<String>) -> Option<Self> {
        None
    }

    /// From `true` or `false`.
    fn from_bool(_value: bool) -> Option<Self> {
        None
    }

    /// From a list, which is read to its end either way.
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// From a mapping, which is read to its end either way.
    fn from_mapping<A: MapAccess<'de>>(mut mapping: A) -> Result<Option<Self>, A::Error> {
        while mapping.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl<'de, T: Shape<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anything<T>(std::marker::PhantomData<T>);
        impl<'de, T: Shape<'de>> Visitor<'de> for Anything<T> {
            type Value = Lenient<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("any node")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Lenient::Absent)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                self.visit_string(text.to_owned())
            }
            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(T::from_text(Zeroizing::new(text)).map_or(Lenient::Odd("text"), Lenient::Is))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(T::from_bool(value).map_or(Lenient::Odd("true or false"), Lenient::Is))
            }
            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Lenient::Odd("a number"))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Lenient::Odd("a number"))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Lenient::Odd("a number"))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Ok(T::from_list(list)?.map_or(Lenient::Odd("a list"), Lenient::Is))
            }
            fn visit_map<A: MapAccess<'de>>(self, mapping: A) -> Result<Self::Value, A::Error> {
                Ok(T::from_mapping(mapping)?.map_or(Lenient::Odd("a mapping"), Lenient::Is))
            }
        }
        deserializer.deserialize_any(Anything(std::marker::PhantomData))
    }
}

/// A text scalar.
pub struct Scalar(Zeroizing<String>);

impl<'de> Shape<'de> for Scalar {
    fn from_text(text: Zeroizing<String>) -> Option<Self> {
        Some(Self(text))
    }
}

/// A place where text belongs.
pub type Text = Lenient<Scalar>;

impl Text {
    /// The text without surrounding white space, or `None` where nothing is left.
    pub fn text(&self) -> Option<&str> {
        self.get().map(|scalar| scalar.0.trim()).filter(|text| !text.is_empty())
    }
}

/// A switch. Whatever is not plainly "off" counts as on, since what it switches off is a safeguard.
pub struct Switch(pub bool);

impl<'de> Shape<'de> for Switch {
    fn from_text(text: Zeroizing<String>) -> Option<Self> {
        let off = ["false", "no", "off", ""].iter().any(|word| text.trim().eq_ignore_ascii_case(word));
        Some(Self(!off))
    }

    fn from_bool(value: bool) -> Option<Self> {
        Some(Self(value))
    }
}

/// A list or a mapping of which only matters whether something is in it.
pub struct Filled;

impl<'de> Shape<'de> for Filled {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut filled = None;
        while list.next_element::<IgnoredAny>()?.is_some() {
            filled = Some(Self);
        }
        Ok(filled)
    }

    fn from_mapping<A: MapAccess<'de>>(mut mapping: A) -> Result<Option<Self>, A::Error> {
        let mut filled = None;
        while mapping.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            filled = Some(Self);
        }
        Ok(filled)
    }
}

impl<'de, T: Shape<'de>> Shape<'de> for Vec<Lenient<T>> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut entries = Self::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        Ok(Some(entries))
    }
}

/// Declares a mapping by its fields and their keys; keys it does not name are passed over.
macro_rules! mapping {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty = $key:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub struct $name { $(pub $field: $kind),+ }

        impl<'de> $crate::kubeconfig::lenient::Shape<'de> for $name {
            fn from_mapping<A: serde::de::MapAccess<'de>>(mut mapping: A) -> Result<Option<Self>, A::Error> {
                let mut read = Self::default();
                while let Some(key) = mapping.next_key::<$crate::kubeconfig::lenient::Text>()? {
                    match key.text() {
                        $(Some($key) => read.$field = mapping.next_value()?,)+
                        _ => { mapping.next_value::<serde::de::IgnoredAny>()?; }
                    }
                }
                Ok(Some(read))
            }
        }
    };
}
pub(super) use mapping;

//! Reading JSON without ever refusing it.
//!
//! A list of 5,000 nodes must not be lost to one field of the wrong type, so every field of the rows is read through
//! [`Lenient`]: what has the expected shape is taken, `null` counts as absent, and anything else is consumed and
//! remembered as misshapen. Only text that is not JSON, or an object that names one field twice, is an error.
//!
//! Deliberately absent: any knowledge of Kubernetes.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::inventory::name::Name;

/// A field that may be absent or of the wrong shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Lenient<T> {
    /// Missing or `null`.
    #[default]
    Absent,
    /// Present, but not of the expected shape.
    Misshapen,
    /// Read.
    Read(T),
}

impl<T> Lenient<T> {
    /// The value; a misshapen field is noted in `faults` under `field`.
    pub(super) fn take(self, field: &'static str, faults: &mut Faults) -> Option<T> {
        match self {
            Self::Absent => None,
            Self::Misshapen => {
                faults.note(field);
                None
            }
            Self::Read(value) => Some(value),
        }
    }

    /// The value, or an empty one; anything but a value is noted: a list item is never absent.
    pub(super) fn take_object(self, field: &'static str, faults: &mut Faults) -> T
    where
        T: Default,
    {
        match self {
            Self::Read(value) => value,
            Self::Absent | Self::Misshapen => {
                faults.note(field);
                T::default()
            }
        }
    }

    /// The value, where a wrong shape is of no interest.
    pub(super) fn read(self) -> Option<T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Absent | Self::Misshapen => None,
        }
    }
}

/// Names of the fields of one object that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(Vec<&'static str>);

impl Faults {
    pub(super) fn note(&mut self, field: &'static str) {
        if !self.0.contains(&field) {
            self.0.push(field);
        }
    }

    /// The fields, as paths such as `spec.taints`.
    pub fn fields(&self) -> &[&'static str] {
        &self.0
    }
}

/// A type that can be made from some JSON shapes; the other shapes are misshapen.
pub(super) trait Shape<'de>: Sized {
    fn text(_: &str) -> Option<Self> {
        None
    }
    fn boolean(_: bool) -> Option<Self> {
        None
    }
    fn integer(_: i64) -> Option<Self> {
        None
    }
    /// A number that is not an `i64`, in decimal.
    fn number(_: &str) -> Option<Self> {
        None
    }
    fn list<A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn object<A: MapAccess<'de>>(mut fields: A) -> Result<Option<Self>, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl<'de, T: Shape<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyShape(PhantomData))
    }
}

struct AnyShape<T>(PhantomData<T>);

impl<T> AnyShape<T> {
    fn verdict<E>(value: Option<T>) -> Result<Lenient<T>, E> {
        Ok(value.map_or(Lenient::Misshapen, Lenient::Read))
    }
}

impl<'de, T: Shape<'de>> Visitor<'de> for AnyShape<T> {
    type Value = Lenient<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Lenient::Absent)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Self::verdict(T::boolean(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Self::verdict(T::integer(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Self::verdict(match i64::try_from(value) {
            Ok(value) => T::integer(value),
            Err(_) => T::number(&value.to_string()),
        })
    }
    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        // Rust spells a float in full decimal digits, never with an exponent, so the text is a plain quantity.
        Self::verdict(T::number(&value.to_string()))
    }
    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Self::verdict(T::text(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        T::list(items).and_then(Self::verdict)
    }
    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        T::object(fields).and_then(Self::verdict)
    }
}

impl Shape<'_> for Box<str> {
    fn text(value: &str) -> Option<Self> {
        Some(value.into())
    }
    // Label values such as `true` and `8` lose their quotes in some tools.
    fn boolean(value: bool) -> Option<Self> {
        Some(if value { "true".into() } else { "false".into() })
    }
    fn integer(value: i64) -> Option<Self> {
        Some(value.to_string().into())
    }
    fn number(value: &str) -> Option<Self> {
        Some(value.into())
    }
}

impl Shape<'_> for Name {
    fn text(value: &str) -> Option<Self> {
        Some(value.into())
    }
}

impl Shape<'_> for bool {
    fn boolean(value: bool) -> Option<Self> {
        Some(value)
    }
    fn text(value: &str) -> Option<Self> {
        value.trim().to_ascii_lowercase().parse().ok()
    }
}

impl Shape<'_> for i64 {
    fn integer(value: i64) -> Option<Self> {
        Some(value)
    }
    fn text(value: &str) -> Option<Self> {
        value.trim().parse().ok()
    }
}

impl<'de, T: Shape<'de>> Shape<'de> for Vec<T> {
    /// Items of the wrong shape are left out.
    fn list<A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Lenient<T>>()? {
            list.extend(item.read());
        }
        Ok(Some(list))
    }
}

/// Which keys of a map are kept.
pub(super) trait Keep {
    fn keep(key: &str) -> bool;
}

/// A string-keyed map, sorted by key, without the keys that nobody asks for.
pub(super) struct Table<K, V> {
    pub(super) entries: Box<[(Name, V)]>,
    kept: PhantomData<K>,
}

#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de, K: Keep, V: Shape<'de>> Shape<'de> for Table<K, V> {
    fn object<A: MapAccess<'de>>(mut fields: A) -> Result<Option<Self>, A::Error> {
        let mut entries: Vec<(Name, V)> = Vec::new();
        while let Some(Key(key)) = fields.next_key::<Key<'_>>()? {
            if K::keep(&key) {
                if let Some(value) = fields.next_value::<Lenient<V>>()?.read() {
                    entries.push((key.as_ref().into(), value));
                }
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Some(Self { entries: entries.into(), kept: PhantomData }))
    }
}

/// Reads an object into a type that derives `Deserialize` and whose every field is [`Lenient`] and defaulted.
pub(super) fn derived<'de, T: Deserialize<'de>, A: MapAccess<'de>>(fields: A) -> Result<Option<T>, A::Error> {
    T::deserialize(MapAccessDeserializer::new(fields)).map(Some)
}

/// Makes types that derive `Deserialize` readable from objects.
macro_rules! objects {
    ($($name:ty),+ $(,)?) => {$(
        impl<'de> $crate::inventory::input::lenient::Shape<'de> for $name {
            fn object<A: serde::de::MapAccess<'de>>(fields: A) -> Result<Option<Self>, A::Error> {
                $crate::inventory::input::lenient::derived(fields)
            }
        }
    )+};
}
pub(super) use objects;

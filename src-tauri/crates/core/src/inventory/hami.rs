//! HAMi: what its device plugins write about cards on nodes, and its scheduler about shares on pods.
//!
//! The resource count of a HAMi node is cards times split, so the cards are in an annotation of the node, in one of two
//! spellings: `uuid,split,memMiB,cores,type,numa,health[,index,mode]:` (up to 2.4), or a JSON list. Volcano's vGPU plugin
//! is a fork and writes the same. A pod's allocation is `uuid,type,memMiB,cores:` per container, containers separated by
//! `;`; it may begin with `;` and hold empty slots (HAMi#991, #1932).
//! Deliberately absent: cores and memory still free per card; terminal pods keep their record and must be left out.

use serde::Deserialize;

use super::input::Node;
use super::name::Name;

/// Annotations of a node by vendor. Huawei's key ends in the chip: `hami.io/node-register-Ascend910B`.
const REGISTERS: [(&str, &str); 8] = [
    ("nvidia", "hami.io/node-nvidia-register"),
    ("nvidia", "4pd.io/node-nvidia-register"),
    ("nvidia", "volcano.sh/node-vgpu-register"),
    ("cambricon", "hami.io/node-mlu-register"),
    ("hygon", "hami.io/node-dcu-register"),
    ("iluvatar", "hami.io/node-iluvatar-register"),
    ("metax", "hami.io/node-metax-register"),
    ("huawei", "hami.io/node-register-"),
];

/// A card that HAMi registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// How many units the card is advertised as.
    pub split: i64,
    /// Memory in MiB, as HAMi hands it out.
    pub memory_mib: Option<i64>,
    /// Model as HAMi writes it.
    pub model: Option<Name>,
}

/// A share of a card that a pod was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Identity of the card.
    pub device: Name,
    /// Memory in MiB.
    pub memory_mib: Option<i64>,
}

/// The cards of a vendor that a node registers, and the annotation that says so; `None` when there is none or it cannot
/// be read.
pub fn cards(node: &Node, vendor: &str) -> Option<(Vec<Card>, &'static str)> {
    REGISTERS.into_iter().filter(|(of, _)| *of == vendor).find_map(|(_, key)| {
        let (_, text) = node.annotations.with_prefix(key).next()?;
        let cards = if text.starts_with('[') { from_json(text) } else { from_text(text) }?;
        (!cards.is_empty()).then_some((cards, key))
    })
}

/// The shares in a pod's allocation record.
pub fn shares(record: &str) -> Vec<Share> {
    record
        .split([';', ':'])
        .filter_map(|slot| {
            let mut fields = slot.split(',').map(str::trim);
            let device = fields.next().filter(|device| !device.is_empty())?;
            Some(Share {
                device: device.into(),
                memory_mib: fields.nth(1).and_then(|memory| memory.parse().ok()),
            })
        })
        .collect()
}

fn from_text(text: &str) -> Option<Vec<Card>> {
    text.split(':')
        .filter(|card| !card.trim().is_empty())
        .map(|card| {
            let mut fields = card.split(',').map(str::trim).skip(1);
            let split = fields.next()?.parse().ok()?;
            let memory = fields.next()?.parse().ok();
            let model = fields.nth(1).filter(|model| !model.is_empty()).map(Name::from);
            Some(Card { split, memory_mib: memory.filter(|mib| *mib > 0), model })
        })
        .collect()
}

fn from_json(text: &str) -> Option<Vec<Card>> {
    #[derive(Deserialize)]
    struct Registered {
        count: i64,
        devmem: Option<i64>,
        r#type: Option<String>,
    }
    let cards: Vec<Registered> = serde_json::from_str(text).ok()?;
    Some(
        cards
            .into_iter()
            .map(|card| Card {
                split: card.count,
                memory_mib: card.devmem.filter(|mib| *mib > 0),
                model: card.r#type.filter(|model| !model.is_empty()).map(Name::from),
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(key: &str, text: &str) -> Node {
        Node { annotations: [(key, text)].into_iter().collect(), ..Node::default() }
    }

    #[test]
    fn both_spellings_of_the_register_are_read() {
        let v100 =
            Card { split: 10, memory_mib: Some(32_768), model: Some("NVIDIA-Tesla V100-PCIE-32GB".into()) };
        for text in [
            "GPU-0,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true:GPU-1,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,false:",
            "GPU-0,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true,0,hami-core:GPU-1,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true,1,mig:",
            r#"[{"id":"GPU-0","count":10,"devmem":32768,"type":"NVIDIA-Tesla V100-PCIE-32GB"},{"id":"GPU-1","count":10,"devmem":32768,"type":"NVIDIA-Tesla V100-PCIE-32GB"}]"#,
        ] {
            let (cards, key) =
                cards(&node("hami.io/node-nvidia-register", text), "nvidia").expect("readable");
            assert_eq!(
                (cards, key),
                (vec![v100.clone(), v100.clone()], "hami.io/node-nvidia-register"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_register_that_cannot_be_read_says_nothing() {
        for text in ["", "nonsense", "[{]", "GPU-0,x,1"] {
            assert_eq!(cards(&node("hami.io/node-nvidia-register", text), "nvidia"), None, "{text:?}");
        }
        assert_eq!(cards(&node("hami.io/node-mlu-register", "MLU-0,10,1,0,M,0,true:"), "nvidia"), None);
    }

    #[test]
    fn huawei_names_the_chip_in_the_key() {
        let node = node("hami.io/node-register-Ascend910B", "A-0,4,65536,100,Ascend910B,0,true:");
        assert_eq!(cards(&node, "huawei").map(|(cards, _)| cards.len()), Some(1));
    }

    #[test]
    fn an_allocation_may_begin_with_an_empty_slot() {
        let devices =
            |record| shares(record).into_iter().map(|share| share.device.to_string()).collect::<Vec<_>>();
        assert_eq!(devices(";GPU-0,NVIDIA,3000,25:;"), ["GPU-0"]);
        assert_eq!(
            devices("GPU-0,NVIDIA,3000,25:GPU-1,NVIDIA,3000,25:;GPU-2,NVIDIA,1,1:;"),
            ["GPU-0", "GPU-1", "GPU-2"]
        );
        assert!(devices("").is_empty());
        assert_eq!(shares("GPU-0,NVIDIA,3000,25:")[0].memory_mib, Some(3000));
    }
}

//! The index in states that it should not be in.

use muster_core::kms::memory::MemoryStore;
use muster_core::kms::memory::Verb;

use crate::support::{Desk, registration};

#[tokio::test(start_paused = true)]
async fn a_corrupt_or_newer_index_is_told_and_never_overwritten() {
    for (document, code) in [
        (&b"{not json"[..], "index_corrupt"),
        (b"\"a text\"", "index_corrupt"),
        (b"{}", "index_corrupt"),
        (b"[{\"name\":\"../x\"}]", "index_corrupt"),
        (b"[{\"name\":\"ok\"},{\"name\":7}]", "index_corrupt"),
        (b"[{\"name\":\"a\",\"namespaces\":[\" \"]}]", "index_corrupt"),
        (b"{\"schema\":2}", "index_newer"),
        (b"[{\"name\":\"a\",\"schema\":2}]", "index_newer"),
    ] {
        let store = MemoryStore::new();
        let desk = Desk::new(&store, "acme", 1);
        store.plant(&desk.index_ref(), document);
        let shown = String::from_utf8_lossy(document);
        assert_eq!(desk.registry.list(&desk.tenant).await.unwrap_err().code(), code, "{shown}");
        assert_eq!(desk.registry.reach(&desk.tenant, "a").await.unwrap_err().code(), code, "{shown}");
        assert_eq!(desk.register(&registration("prod", "t")).await.unwrap_err().code(), code, "{shown}");
        assert_eq!(desk.registry.deregister(&desk.tenant, "ok").await.unwrap_err().code(), code, "{shown}");
        assert_eq!(desk.registry.pending_purges(&desk.tenant).await.unwrap_err().code(), code, "{shown}");
        assert!(store.calls().iter().all(|(verb, _)| *verb == Verb::Get), "{shown}: nothing is written");
        assert_eq!(desk.net.dialled(), Vec::<String>::new(), "{shown}: nothing is dialled");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_pending_purges_that_cannot_be_read_stops_registering_before_anything_is_sealed() {
    for document in [&b"{}"[..], b"[7]", b"[{\"schema\":9}]"] {
        let store = MemoryStore::new();
        let desk = Desk::new(&store, "acme", 1);
        store.plant(&desk.purge_ref(), document);
        let code = desk.register(&registration("prod", "t")).await.unwrap_err().code();
        assert!(code == "index_corrupt" || code == "index_newer", "{code}");
        assert_eq!(store.newest(&desk.credential_ref("prod")), None);
        assert_eq!(store.newest(&desk.purge_ref()).unwrap(), document);
    }
}

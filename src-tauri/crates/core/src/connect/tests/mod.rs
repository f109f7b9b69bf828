//! The client from the attacker's, the proxy's and the broken network's side, against scripted servers in memory.

mod addresses;
mod answers;
mod certificates;
mod environment;
mod kubeconfigs;
mod proxies;
mod stalls;

//! The accelerator inventory: how many cards a cluster has, how they are cut, who holds them, and what is really free.

pub mod input;
pub mod name;
pub mod quantity;
pub mod requests;

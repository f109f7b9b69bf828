//! The client of Vault and OpenBao.

mod config;

pub use config::VaultConfig;

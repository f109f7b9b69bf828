//! From a kubeconfig that passed the gate to a client: TLS, proxy, the dial-time address check, budgets.

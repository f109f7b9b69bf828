package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// freePort asks the system for a port of 127.0.0.1 that nobody listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func startEtcd(dir string) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "etcd")
	config.LogLevel = "error"
	config.LogOutputs = []string{filepath.Join(dir, "etcd.log")}
	// Nothing has to survive the test.
	config.UnsafeNoFsync = true
	for _, urls := range []*[]url.URL{&config.ListenClientUrls, &config.AdvertiseClientUrls, &config.ListenPeerUrls, &config.AdvertisePeerUrls} {
		*urls = nil
	}
	client, err := freePort()
	if err != nil {
		return nil, err
	}
	peer, err := freePort()
	if err != nil {
		return nil, err
	}
	clientURL := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", client)}
	peerURL := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", peer)}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{clientURL}, []url.URL{clientURL}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peerURL}, []url.URL{peerURL}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case <-time.After(time.Minute):
		etcd.Close()
		return nil, fmt.Errorf("etcd was not ready within a minute")
	}
}

func startAPIServer(ctx context.Context, dir, etcd string, pki *pki) (string, error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	log, err := os.Create(filepath.Join(dir, "apiserver.log"))
	if err != nil {
		return "", err
	}
	command := app.NewAPIServerCommand()
	command.SetOut(log)
	command.SetErr(log)
	command.SetArgs([]string{
		"--etcd-servers=" + etcd,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=" + pki.path("server.crt"),
		"--tls-private-key-file=" + pki.path("server.key"),
		"--client-ca-file=" + pki.path("ca.crt"),
		"--cert-dir=" + filepath.Join(dir, "certs"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki.path("sa.key"),
		"--service-account-signing-key-file=" + pki.path("sa.key"),
		"--authorization-mode=RBAC",
		// Pods are written as a scheduler and a kubelet would leave them; there is neither here.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,Priority",
		"--profiling=false",
		"--v=0",
	})
	failed := make(chan error, 1)
	go func() { failed <- command.ExecuteContext(ctx) }()
	endpoint := fmt.Sprintf("https://127.0.0.1:%d", port)
	if err := pki.waitReady(ctx, endpoint, failed); err != nil {
		return "", err
	}
	return endpoint, nil
}

// muster-apiserver runs a real kube-apiserver over an embedded etcd, both on loopback, for Muster's tests: RBAC on, an
// admin by client certificate, a ServiceAccount that may read two namespaces, nodes with GPUs and pods that hold them.
//
// It prints one line of JSON when everything is there and ends when its standard input closes, so that it never
// outlives the test that started it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// ready is what a test gets.
type ready struct {
	Endpoint         string `json:"endpoint"`
	Version          string `json:"version"`
	AdminKubeconfig  string `json:"adminKubeconfig"`
	ScopedKubeconfig string `json:"scopedKubeconfig"`
	// NodelessKubeconfig may read pods everywhere and nodes nowhere.
	NodelessKubeconfig string `json:"nodelessKubeconfig"`
}

func main() {
	dir := flag.String("dir", "", "an empty folder for certificates and data")
	nodes := flag.Int("nodes", 4, "GPU nodes to create")
	flag.Parse()
	if *dir == "" {
		fail(fmt.Errorf("-dir is required"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := run(ctx, *dir, *nodes); err != nil {
		fail(err)
	}
}

func run(ctx context.Context, dir string, nodes int) error {
	pki, err := newPKI(dir)
	if err != nil {
		return err
	}
	etcd, err := startEtcd(dir)
	if err != nil {
		return err
	}
	defer etcd.Close()
	endpoint, err := startAPIServer(ctx, dir, etcd.Config().ListenClientUrls[0].String(), pki)
	if err != nil {
		return err
	}
	deadline, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	admin := pki.admin(endpoint)
	seeded, err := seed(deadline, admin, nodes)
	if err != nil {
		return err
	}
	line, err := json.Marshal(ready{
		Endpoint:           endpoint,
		Version:            seeded.version,
		AdminKubeconfig:    pki.kubeconfigByCertificate(endpoint),
		ScopedKubeconfig:   pki.kubeconfigByToken(endpoint, seeded.scopedToken, "team-a"),
		NodelessKubeconfig: pki.kubeconfigByToken(endpoint, seeded.nodelessToken, ""),
	})
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	<-ctx.Done()
	return nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "muster-apiserver:", err)
	os.Exit(1)
}

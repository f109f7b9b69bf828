package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
)

// pki is the cluster's authority and what it signed, as files for the server and in memory for clients.
type pki struct {
	dir       string
	ca        *x509.Certificate
	caKey     crypto.Signer
	caPEM     []byte
	adminCert []byte
	adminKey  []byte
}

func newPKI(dir string) (*pki, error) {
	p := &pki{dir: filepath.Join(dir, "pki")}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := template("muster test authority", nil)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if p.ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	p.caKey, p.caPEM = key, encode("CERTIFICATE", der)
	server, serverKey, err := p.issue("kube-apiserver", nil, x509.ExtKeyUsageServerAuth)
	if err != nil {
		return nil, err
	}
	// system:masters is bound to cluster-admin by the server itself.
	if p.adminCert, p.adminKey, err = p.issue("muster-admin", []string{"system:masters"}, x509.ExtKeyUsageClientAuth); err != nil {
		return nil, err
	}
	_, serviceAccountKey, err := p.issue("service accounts", nil, x509.ExtKeyUsageAny)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"ca.crt": p.caPEM, "server.crt": server, "server.key": serverKey, "sa.key": serviceAccountKey}
	for name, content := range files {
		if err := os.WriteFile(p.path(name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *pki) path(name string) string { return filepath.Join(p.dir, name) }

func template(name string, groups []string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name, Organization: groups},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(90 * 24 * time.Hour),
	}
}

func (p *pki) issue(name string, groups []string, usage x509.ExtKeyUsage) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := template(name, groups)
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{usage}
	template.IPAddresses, template.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	der, err := x509.CreateCertificate(rand.Reader, template, p.ca, private.Public(), p.caKey)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return encode("CERTIFICATE", der), encode("EC PRIVATE KEY", keyDER), nil
}

func encode(kind string, der []byte) []byte {
	var out bytes.Buffer
	// Writing to memory does not fail.
	_ = pem.Encode(&out, &pem.Block{Type: kind, Bytes: der})
	return out.Bytes()
}

// admin is how this program itself talks to the server.
func (p *pki) admin(endpoint string) *rest.Config {
	return &rest.Config{
		Host: endpoint,
		TLSClientConfig: rest.TLSClientConfig{CAData: p.caPEM, CertData: p.adminCert, KeyData: p.adminKey},
		QPS:  500, Burst: 1000,
	}
}

func (p *pki) waitReady(ctx context.Context, endpoint string, failed <-chan error) error {
	pool := x509.NewCertPool()
	pool.AddCert(p.ca)
	pair, err := tls.X509KeyPair(p.adminCert, p.adminKey)
	if err != nil {
		return err
	}
	config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: config}}
	deadline := time.After(2 * time.Minute)
	for {
		if answer, err := client.Get(endpoint + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-failed:
			return fmt.Errorf("the API server ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("the API server was not ready within two minutes")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p *pki) kubeconfigByCertificate(endpoint string) string {
	user := fmt.Sprintf("    client-certificate-data: %s\n    client-key-data: %s\n", b64(p.adminCert), b64(p.adminKey))
	return p.kubeconfig(endpoint, user, "")
}

func (p *pki) kubeconfigByToken(endpoint, token, namespace string) string {
	return p.kubeconfig(endpoint, "    token: "+token+"\n", namespace)
}

func (p *pki) kubeconfig(endpoint, user, namespace string) string {
	if namespace != "" {
		namespace = "    namespace: " + namespace + "\n"
	}
	return "apiVersion: v1\nkind: Config\nclusters:\n- name: real\n  cluster:\n    server: " + endpoint +
		"\n    certificate-authority-data: " + b64(p.caPEM) +
		"\nusers:\n- name: muster\n  user:\n" + user +
		"contexts:\n- name: real\n  context:\n    cluster: real\n    user: muster\n" + namespace +
		"current-context: real\n"
}

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

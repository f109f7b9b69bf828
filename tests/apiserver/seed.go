package main

import (
	"context"
	"fmt"

	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const gpu = core.ResourceName("nvidia.com/gpu")

type seeded struct {
	version       string
	scopedToken   string
	nodelessToken string
}

// seed writes what the tests count: `nodes` nodes of eight H100, one of them cordoned, and in team-a one pod on each of
// the first two holding four cards, in team-b one pod that waits.
func seed(ctx context.Context, config *rest.Config, nodes int) (*seeded, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"team-a", "team-b", "team-c"} {
		namespace := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, meta.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("namespace %s: %w", name, err)
		}
	}
	for i := range nodes {
		if err := node(ctx, client, i); err != nil {
			return nil, err
		}
	}
	for i := range min(2, nodes) {
		if err := pod(ctx, client, "team-a", fmt.Sprintf("trainer-%d", i), nodeName(i), 4); err != nil {
			return nil, err
		}
	}
	if err := pod(ctx, client, "team-b", "waiter", "", 8); err != nil {
		return nil, err
	}
	if err := pod(ctx, client, "team-c", "not-yours", nodeName(0), 0); err != nil {
		return nil, err
	}
	scoped, err := account(ctx, client, "scoped", []string{"team-a", "team-b"})
	if err != nil {
		return nil, err
	}
	nodeless, err := account(ctx, client, "nodeless", nil)
	if err != nil {
		return nil, err
	}
	return &seeded{version: version.GitVersion, scopedToken: scoped, nodelessToken: nodeless}, nil
}

func nodeName(i int) string { return fmt.Sprintf("gpu-%02d", i) }

func node(ctx context.Context, client kubernetes.Interface, i int) error {
	node := &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: nodeName(i), Labels: map[string]string{
			"nvidia.com/gpu.product":      "NVIDIA-H100-80GB-HBM3",
			"nvidia.com/gpu.memory":       "81559",
			"nvidia.com/gpu.count":        "8",
			"topology.kubernetes.io/zone": "zone-1",
		}},
		Spec: core.NodeSpec{Unschedulable: i == 3},
	}
	node, err := client.CoreV1().Nodes().Create(ctx, node, meta.CreateOptions{})
	if err != nil {
		return fmt.Errorf("node %d: %w", i, err)
	}
	resources := core.ResourceList{
		core.ResourceCPU:    resource.MustParse("96"),
		core.ResourceMemory: resource.MustParse("1024Gi"),
		core.ResourcePods:   resource.MustParse("110"),
		gpu:                 resource.MustParse("8"),
	}
	node.Status.Capacity, node.Status.Allocatable = resources, resources
	node.Status.Conditions = []core.NodeCondition{{Type: core.NodeReady, Status: core.ConditionTrue, Reason: "KubeletReady"}}
	node.Status.NodeInfo.KubeletVersion = "v1.36.3"
	if _, err := client.CoreV1().Nodes().UpdateStatus(ctx, node, meta.UpdateOptions{}); err != nil {
		return fmt.Errorf("status of node %d: %w", i, err)
	}
	return nil
}

func pod(ctx context.Context, client kubernetes.Interface, namespace, name, node string, cards int64) error {
	requests := core.ResourceList{core.ResourceCPU: resource.MustParse("1")}
	if cards > 0 {
		requests[gpu] = *resource.NewQuantity(cards, resource.DecimalSI)
	}
	pod := &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: name, Namespace: namespace},
		Spec: core.PodSpec{
			NodeName: node,
			Containers: []core.Container{{
				Name:      "main",
				Image:     "example.com/main:1",
				Env:       []core.EnvVar{{Name: "API_KEY", Value: "never-shown"}},
				Resources: core.ResourceRequirements{Requests: requests, Limits: core.ResourceList{gpu: requests[gpu]}},
			}},
		},
	}
	if cards == 0 {
		pod.Spec.Containers[0].Resources.Limits = nil
	}
	pod, err := client.CoreV1().Pods(namespace).Create(ctx, pod, meta.CreateOptions{})
	if err != nil {
		return fmt.Errorf("pod %s: %w", name, err)
	}
	if node == "" {
		pod.Status.Conditions = []core.PodCondition{{
			Type: core.PodScheduled, Status: core.ConditionFalse, Reason: core.PodReasonUnschedulable,
			Message: "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.",
		}}
	} else {
		pod.Status.Phase = core.PodRunning
		pod.Status.ContainerStatuses = []core.ContainerStatus{{
			Name: "main", Ready: true, Image: "example.com/main:1", ImageID: "example.com/main@sha256:0",
			State: core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: meta.Now()}},
		}}
	}
	if _, err := client.CoreV1().Pods(namespace).UpdateStatus(ctx, pod, meta.UpdateOptions{}); err != nil {
		return fmt.Errorf("status of pod %s: %w", name, err)
	}
	return nil
}

// account makes a ServiceAccount that may read pods in these namespaces, or with none in all of them, and its token.
func account(ctx context.Context, client kubernetes.Interface, name string, namespaces []string) (string, error) {
	service := &core.ServiceAccount{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: "default"}}
	if _, err := client.CoreV1().ServiceAccounts("default").Create(ctx, service, meta.CreateOptions{}); err != nil {
		return "", fmt.Errorf("service account %s: %w", name, err)
	}
	rules := []rbac.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}}}
	subjects := []rbac.Subject{{Kind: "ServiceAccount", Name: name, Namespace: "default"}}
	for _, namespace := range namespaces {
		role := &rbac.Role{ObjectMeta: meta.ObjectMeta{Name: name}, Rules: rules}
		if _, err := client.RbacV1().Roles(namespace).Create(ctx, role, meta.CreateOptions{}); err != nil {
			return "", err
		}
		binding := &rbac.RoleBinding{
			ObjectMeta: meta.ObjectMeta{Name: name}, Subjects: subjects,
			RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: name},
		}
		if _, err := client.RbacV1().RoleBindings(namespace).Create(ctx, binding, meta.CreateOptions{}); err != nil {
			return "", err
		}
	}
	if len(namespaces) == 0 {
		role := &rbac.ClusterRole{ObjectMeta: meta.ObjectMeta{Name: name}, Rules: rules}
		if _, err := client.RbacV1().ClusterRoles().Create(ctx, role, meta.CreateOptions{}); err != nil {
			return "", err
		}
		binding := &rbac.ClusterRoleBinding{
			ObjectMeta: meta.ObjectMeta{Name: name}, Subjects: subjects,
			RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: name},
		}
		if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, meta.CreateOptions{}); err != nil {
			return "", err
		}
	}
	hours := int64(24 * 3600)
	request := &authentication.TokenRequest{Spec: authentication.TokenRequestSpec{ExpirationSeconds: &hours}}
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(ctx, name, request, meta.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of %s: %w", name, err)
	}
	return token.Status.Token, nil
}

// Applies a manifest as Flux's kustomize-controller applies what it has built from Git: with its
// engine, and the options that it gives the engine in version 1.9.6 (Flux 2.9,
// internal/controller/kustomization_controller.go).
//
//	kustomize-apply KUSTOMIZATION.yaml MANIFEST.yaml
//
// The Kustomization's name, namespace and spec.ignore count. KUBECONFIG says where.
package main

import (
	"context"
	"fmt"
	"os"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const controller = "kustomize-controller"

func main() {
	if err := reconcile(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func reconcile(ctx context.Context) error {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var obj kustomizev1.Kustomization
	if err := yaml.UnmarshalStrict(text, &obj); err != nil {
		return err
	}
	manifest, err := os.Open(os.Args[2])
	if err != nil {
		return err
	}
	objects, err := utils.ReadObjects(manifest)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	kube, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	group := kustomizev1.GroupVersion.Group
	manager := ssa.NewResourceManager(kube, nil, ssa.Owner{Field: controller, Group: group})
	manager.SetOwnerLabels(objects, obj.GetName(), obj.GetNamespace())
	if err := normalize.UnstructuredList(objects); err != nil {
		return err
	}
	changes, err := manager.ApplyAllStaged(ctx, objects, options(&obj, group))
	if err != nil {
		return err
	}
	for _, change := range changes.Entries {
		fmt.Printf("%s %s\n", change.Subject, change.Action)
	}
	return nil
}

func options(obj *kustomizev1.Kustomization, group string) ssa.ApplyOptions {
	options := ssa.DefaultApplyOptions()
	options.Force = obj.Spec.Force
	options.ExclusionSelector = map[string]string{
		group + "/reconcile": kustomizev1.DisabledValue,
		group + "/ssa":       kustomizev1.IgnoreValue,
	}
	options.IfNotPresentSelector = map[string]string{group + "/ssa": kustomizev1.IfNotPresentValue}
	options.ForceSelector = map[string]string{group + "/force": kustomizev1.EnabledValue}
	for _, rule := range obj.Spec.Ignore {
		ignore := jsondiff.IgnoreRule{Paths: rule.Paths}
		if rule.Target != nil {
			ignore.Selector = &jsondiff.Selector{
				Group:              rule.Target.Group,
				Version:            rule.Target.Version,
				Kind:               rule.Target.Kind,
				Name:               rule.Target.Name,
				Namespace:          rule.Target.Namespace,
				AnnotationSelector: rule.Target.AnnotationSelector,
				LabelSelector:      rule.Target.LabelSelector,
			}
		}
		options.DriftIgnoreRules = append(options.DriftIgnoreRules, ignore)
	}
	options.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{corev1.LastAppliedConfigAnnotation},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: controller, OperationType: metav1.ManagedFieldsOperationUpdate},
		},
		Exclusions: map[string]string{group + "/ssa": kustomizev1.MergeValue},
	}
	return options
}

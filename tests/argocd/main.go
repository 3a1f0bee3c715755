// The two components of Argo CD that sync, in one program, as Argo CD itself has them: its name
// says which one it is.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	repository "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

func main() {
	components := map[string]func() *cobra.Command{
		"argocd-application-controller": controller.NewCommand,
		"argocd-repo-server":            repository.NewCommand,
	}
	name := filepath.Base(os.Args[0])
	component, known := components[name]
	if !known {
		fmt.Fprintf(os.Stderr, "%s is not a component\n", name)
		os.Exit(2)
	}
	if err := component().Execute(); err != nil {
		os.Exit(1)
	}
}

// Command quantity says what Kubernetes makes of amounts such as 100m and 1.5Gi.
//
// Each line of standard input is a text. The answer is a line with the amount in billionths, as long
// as that is, a tab, and the amount in whole ones, rounded up; or "error".
package main

import (
	"bufio"
	"fmt"
	"os"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

func answer(text string) string {
	amount, err := resource.ParseQuantity(text)
	if err != nil {
		return "error"
	}
	billionths := new(inf.Dec).Round(amount.AsDec(), 9, inf.RoundCeil)
	return fmt.Sprintf("%s\t%d", billionths.UnscaledBig(), amount.Value())
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		fmt.Fprintln(out, answer(lines.Text()))
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Command robfig says what robfig/cron v3 makes of cron texts.
//
// Each line of standard input is a zone, a cron text and an instant in Unix seconds, separated by
// tabs. The answer is a line with the next instant, "never", "error", or "stuck" where no answer
// comes within a second.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/robfig/cron/v3"
)

func answer(line string) string {
	parts := strings.Split(line, "\t")
	if len(parts) != 3 {
		return "bad line"
	}
	zone, err := time.LoadLocation(parts[0])
	if err != nil {
		return "bad zone"
	}
	at, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return "bad instant"
	}
	// The standard parser (what Kubernetes' CronJob uses), with the optional field of seconds.
	options := cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow |
		cron.Descriptor
	schedule, err := cron.NewParser(options).Parse(parts[1])
	if err != nil {
		return "error"
	}
	next := make(chan time.Time, 1)
	go func() { next <- schedule.Next(time.Unix(at, 0).In(zone)) }()
	select {
	case next := <-next:
		if next.IsZero() {
			return "never"
		}
		return strconv.FormatInt(next.Unix(), 10)
	case <-time.After(time.Second):
		return "stuck"
	}
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

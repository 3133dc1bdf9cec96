package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/policy"
)

// Tasks without a number in a label, which count as 0.
func TestTasksWithoutNumber(t *testing.T) {
	const zero = "also holds for tasks without a number in the label, which count as 0"
	for cond, want := range map[string]string{
		`int(arriving.labels.level) < 3 and queue.length > 9`:                               "int(arriving.labels.level) < 3 " + zero,
		`3 >= int(arriving.labels.level) and queue.length > 9`:                              zero,
		`not (int(arriving.labels.level) > 3) and queue.length > 9`:                         zero,
		`let level = float(arriving.labels.level); level < 0.5 and queue.length > 9`:        zero,
		`int(arriving.labels.level, 0) < 3 and queue.length > 9`:                            "",
		`int(arriving.labels.level) > 3 and queue.length > 9`:                               "",
		`int(arriving.labels.level) < 0 and queue.length > 9`:                               "",
		`hash(arriving.labels.user) % 100 < 5 and queue.length > 9`:                         "",
		`arriving.labels.level != "" and int(arriving.labels.level) < 3 and loop.busy > 99`: "",
	} {
		checkIdleNumber(t, LimitsOf(policy.Spec{}), cond, want)
	}
}

package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
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

// Limits in a label that some tasks do not have.
func TestLimitsWithoutNumber(t *testing.T) {
	const zero = "is about a limit in a label: tasks without a number there have the limit 0"
	for cond, want := range map[string]string{
		`queue.cost / loop.slots > duration("1ms") * int(arriving.labels.most)`:                     zero,
		`class.tasks > int(arriving.labels.most)`:                                                   zero,
		`float(arriving.labels.most) * duration("1s") < queue.oldest`:                               zero,
		`let most = int(arriving.labels.most) * duration("1s"); queue.oldest >= most`:               zero,
		`not (queue.length <= int(arriving.labels.most))`:                                           zero,
		`queue.length > int(arriving.labels.most, 9)`:                                               "",
		`queue.length > int(arriving.labels.most, 0)`:                                               "",
		`queue.length > max(int(arriving.labels.most), 9)`:                                          "",
		`int(arriving.labels.most) > 0 and queue.length > int(arriving.labels.most)`:                "",
		`float(arriving.labels.most) != 0 and float(queue.length) > float(arriving.labels.most)`:    "",
		`arriving.labels.most != "" and queue.length > int(arriving.labels.most)`:                   "",
		`queue.length > int(arriving.labels.most) + 9`:                                              "",
		`arriving.priority > int(arriving.labels.most)`:                                             "",
		`arriving.cost < duration("1s") * int(arriving.labels.most) and queue.length > 99`:          "",
		`arriving.priority < 0 and queue.length > int(arriving.labels.most) * 2 and loop.busy > 99`: zero,
	} {
		checkIdleNumber(t, LimitsOf(policy.Spec{}), cond, want)
	}
}

// Ranks by a label that some tasks do not have.
func TestRanksWithoutNumber(t *testing.T) {
	const first = "starts tasks without a number in the label before most others"
	for expr, want := range map[string]string{
		`rank(int(arriving.labels.level))`:                                            "rank(int(arriving.labels.level)) " + first,
		`let level = int(arriving.labels.level); rank(duration("1s") * level)`:        first,
		`let level = int(arriving.labels["level"]); rank(level)`:                      first,
		`let level = int(arriving.labels.level, 9); rank(level)`:                      "",
		`let level = int(arriving.labels.level, 0); rank(level)`:                      "",
		`let level = int(arriving.labels.level); level > 0 ? rank(level) : rank(0)`:   "",
		`queue.length > 9 ? rank(int(arriving.labels.level) * 2 + 1) : continue()`:    first,
		`rank(int(arriving.labels.level, 5))`:                                         "",
		`rank(int(arriving.labels.level, 0))`:                                         "",
		`rank(-int(arriving.labels.level))`:                                           "",
		`arriving.labels.level == "" ? rank(9) : rank(int(arriving.labels.level))`:    "",
		`rank(-arriving.priority)`:                                                    "",
		`int(arriving.labels.level) > 3 ? rank(1) : rank(hash(arriving.labels.user))`: "",
	} {
		checkSlip(t, policy.On(stubs.Enqueue), expr, want)
	}
}

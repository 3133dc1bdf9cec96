package gocron_test

import (
	"context"
	"time"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/go-co-op/gocron/v2"
)

func init() {
	s, err := gocron.NewScheduler(gocron.WithLocation(time.UTC))
	if err != nil {
		panic(err)
	}
	s.Start()
	victim.Run(func(context.Context) (any, error) {
		s.RemoveByTags("unseen") // what an earlier throw has left
		sum := 0
		for range 60 {
			j, err := s.NewJob(gocron.CronJob("30 4 1,15 * 5", false), gocron.NewTask(func() {}), gocron.WithTags("unseen"))
			if err != nil {
				return nil, err
			}
			next, err := j.NextRuns(20)
			if err != nil {
				return nil, err
			}
			sum += len(next)
		}
		sum += len(s.Jobs())
		s.RemoveByTags("unseen")
		return []int{sum, len(s.Jobs())}, nil
	})
}

package goquery_test

import (
	"context"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	page := strings.Repeat(`<div class="item odd"><p>some <b>words<a href="/x?y=1">link</a></p><ul><li>one<li>two</ul></div>`, 1500)
	victim.Run(func(context.Context) (any, error) {
		document, err := goquery.NewDocumentFromReader(strings.NewReader(page))
		if err != nil {
			return nil, err
		}
		sum := len(document.Find("div.item > p b a[href^='/x']").Text())
		document.Find("li:nth-child(2)").Each(func(i int, s *goquery.Selection) { sum += i + len(s.Text()) })
		return sum, nil
	})
}

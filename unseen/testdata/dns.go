package dns_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/miekg/dns"
)

func init() {
	var zone strings.Builder
	zone.WriteString("$ORIGIN example.org.\n$TTL 3600\n@ IN SOA ns hostmaster 1 2 3 4 5\n")
	for i := range 300 {
		fmt.Fprintf(&zone, "h%d IN A 10.0.%d.%d\nh%d IN TXT \"some text\" \"%d\"\nh%d IN MX 10 mail%d\n", i, i/256, i%256, i, i, i, i)
	}
	victim.Run(func(context.Context) (any, error) {
		m := new(dns.Msg)
		m.SetQuestion("example.org.", dns.TypeAXFR)
		m.Compress = true
		z := dns.NewZoneParser(strings.NewReader(zone.String()), "", "")
		for rr, ok := z.Next(); ok; rr, ok = z.Next() {
			m.Answer = append(m.Answer, rr)
		}
		if err := z.Err(); err != nil {
			return nil, err
		}
		m.Id = 7
		wire, err := m.Pack()
		if err != nil {
			return nil, err
		}
		var back dns.Msg
		if err := back.Unpack(wire); err != nil {
			return nil, err
		}
		return back.String(), nil
	})
}

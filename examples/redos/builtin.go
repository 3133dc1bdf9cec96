package main

const owasp = "OWASP, Regular expression Denial of Service, https://owasp.org/www-community/attacks/Regular_expression_Denial_of_Service_-_ReDoS"

// builtIn are regular expressions from the literature, for use without a file of cases. The first
// takes forever on any machine.
var builtIn = []evilCase{
	{
		Name: "nested plus", Source: owasp,
		Pattern: `^(a+)+$`,
		Pump:    "a", Suffix: "!", Repeat: 60, BenignRepeat: 2,
	},
	{
		Name: "star of plus", Source: owasp,
		Pattern: `^([a-zA-Z]+)*$`,
		Pump:    "a", Suffix: "!", Repeat: 60, BenignRepeat: 2,
	},
	{
		Name: "overlapping alternatives", Source: owasp,
		Pattern: `^(a|aa)+$`,
		Pump:    "a", Suffix: "!", Repeat: 80, BenignRepeat: 2,
	},
	{
		Name: "optional alternative", Source: owasp,
		Pattern: `^(a|a?)+$`,
		Pump:    "a", Suffix: "!", Repeat: 60, BenignRepeat: 2,
	},
	{
		Name: "counted dots", Source: owasp,
		Pattern: `^(.*a){12}$`,
		Pump:    "a", Suffix: "!", Repeat: 60, BenignRepeat: 2,
	},
	{
		Name: "Java class name", Source: "OWASP Validation Regex Repository, quoted in " + owasp,
		Pattern: `^(([a-z])+.)+[A-Z]([a-z])+$`,
		Pump:    "a", Suffix: "!", Repeat: 60, BenignRepeat: 2,
	},
	{
		Name: "e-mail address", Source: "Regular Expression Library, quoted in " + owasp,
		Pattern: `^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$`,
		Pump:    "a", Suffix: "!", Repeat: 60, BenignRepeat: 2,
	},
	{
		Name: "Stack Overflow, 2016", Source: "the outage postmortem of July 20, 2016, https://stackstatus.tumblr.com/post/147710624694/outage-postmortem-july-20-2016",
		Pattern: `^[\s\u200c]+|[\s\u200c]+$`,
		Prefix:  "x", Pump: " ", Suffix: "x", Repeat: 20_000, BenignRepeat: 2,
	},
	{
		Name: "Cloudflare, 2019", Source: "Details of the Cloudflare outage on July 2, 2019, https://blog.cloudflare.com/details-of-the-cloudflare-outage-on-july-2-2019/",
		Pattern: `.*.*=.*;`,
		Prefix:  "x=", Pump: "x", Repeat: 5_000, BenignRepeat: 2,
	},
	{
		Name: "CPython urllib", Source: "CVE-2020-8492, https://bugs.python.org/issue39503",
		Pattern: `(?:.*,)*[ \t]*([^ \t]+)[ \t]+realm=(["']?)([^"']*)\2`,
		Pump:    ",", Repeat: 64, BenignRepeat: 2,
	},
	{
		Name: "CPython difflib", Source: "CVE-2018-1061, https://bugs.python.org/issue32981",
		Pattern: `^\s*#?\s*$`,
		Pump:    "\t", Suffix: "x", Repeat: 30_000, BenignRepeat: 2,
	},
	{
		Name: "CPython poplib", Source: "CVE-2018-1060, https://bugs.python.org/issue32981",
		Pattern: `\+OK.*(<[^>]+>)`,
		Prefix:  "+OK", Pump: "<", Repeat: 30_000, BenignRepeat: 2,
	},
	{
		Name: "websocket-extensions", Source: "CVE-2020-7662, https://github.com/advisories/GHSA-g78m-2chm-r7qv",
		Pattern: `"((?:\\[\x00-\x7f]|[^\x00-\x08\x0a-\x1f\x7f"])*)"`, Options: []string{"ECMAScript"},
		Prefix: `a; b="`, Pump: `\c`, Repeat: 60, BenignRepeat: 2,
	},
}

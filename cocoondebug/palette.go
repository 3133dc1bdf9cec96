package cocoondebug

// colors is the number of colors of the page for names.
const colors = 8

// palette gives the first names a color each, and lets a name keep its color while it is among
// them.
type palette [colors]string

func (p *palette) paint(names []Name) {
	top := names[:min(colors, len(names))]
	color := map[string]int{}
	for i := range top {
		color[top[i].Name] = 0
	}
	for i, name := range p {
		if _, stays := color[name]; stays && name != "" {
			color[name] = i + 1
		} else {
			p[i] = ""
		}
	}
	for i := range top {
		name := top[i].Name
		for free := 0; color[name] == 0; free++ {
			if p[free] == "" {
				p[free], color[name] = name, free+1
			}
		}
		top[i].Color = color[name]
	}
}

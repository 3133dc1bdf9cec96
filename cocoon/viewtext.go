package cocoon

import "github.com/cocoon-go/cocoon/stubs"

// textOf returns the text of a name in view that policies see as a number, for the log. Called
// under the loop's lock.
func (v *view) textOf(of stubs.ID, label stubs.NameID, l *Loop) string {
	switch of {
	case stubs.TaskName:
		if v.task != nil {
			return v.task.task.class.text
		}
	case stubs.ArrivingName:
		if v.arriving != nil {
			return v.arriving.task.class.text
		}
	case stubs.TaskSection:
		return v.section()
	case stubs.TaskLabels:
		return v.task.label(label)
	case stubs.ArrivingLabels:
		return v.arriving.label(label)
	case stubs.TenantName:
		if s := v.subject(); s != nil && s.tenant != nil {
			return s.tenant.text
		}
	case stubs.TaskKind:
		if v.task != nil {
			return stubs.KindNames[v.task.core.Kind]
		}
	case stubs.ArrivingKind:
		if v.arriving != nil {
			return stubs.KindNames[v.arriving.core.Kind]
		}
	case stubs.LoopName:
		return l.cfg.Name
	case stubs.EventName:
		return v.text
	}
	return ""
}

// stack returns the texts of the task's open sections, outermost first.
func (v *view) stack() (texts []string) {
	if v.task == nil {
		return nil
	}
	for _, o := range v.sections() {
		texts = append(texts, o.name.text)
	}
	return texts
}

// label returns the value of a label of the task, which may be nil; "" when it is not set.
func (s *strand) label(name stubs.NameID) string {
	if s != nil {
		if set := s.task.attrs.labelled(name); set != nil {
			return set.text
		}
	}
	return ""
}

# Real keys without a mouse: Tab, arrows, Enter, Space and Escape reach the start screen's lessons, a lesson's choices, tabs, panels' nodes,
# the buttons beside the tabs, splitters and the run bar. The state names the focused item, and outside of a walk arrows step. Ctrl+F finds
# a text, and the first key hides a tooltip under a resting mouse.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
walking 250
holds 'd["walk"] == ""' 'nothing has a focus before the first Tab'
walk run-bar
walk 03-beam-search-is-a-trie
press_key Return
holds 'd["lesson"]["name"] == "03-beam-search-is-a-trie" and d["lesson"]["step"] == 0' 'Enter opens a lesson'
press_key Escape
holds 'd["walk"] == ""' 'Escape ends the walk'
press_key ctrl+Next
holds 'd["lesson"]["step"] == 1 and d["lesson"]["question_open"]' 'a step with a question'
walk choice\ 2
press_key space
holds 'd["lesson"]["answered"] == 1 and not d["lesson"]["question_open"]' 'Space answers'
walk next
press_key Return
holds 'd["lesson"]["step"] == 2' 'Enter goes on'
walk tab\ text
press_key Return
holds '"text" in d["panels"]' 'a tab shows its panel'
walk about\ text
press_key Return
holds 'd["popups"] == 1' 'Enter opens what a panel is about'
press_key Escape
holds 'd["popups"] == 0' 'Escape closes it'
walk panel\ text
cursor=$(state 'd["cursor"]["tick"]') before=$(state 'd["focus"]["locked"]')
press_key Right
first=$(state 'd["focus"]["locked"]')
holds "d['focus']['locked'] not in (-1, $before) and d['cursor']['tick'] == $cursor" 'an arrow in a panel chooses a node and does not step'
press_key Right
holds "d['focus']['locked'] not in (-1, $first) and d['walk'] == 'panel text'" 'the next one lies beside it'
walk splitter
areas=$(state 'd["areas"]')
press_key Right
press_key Down
holds "d['areas'] != $areas and d['walk'] == 'splitter'" 'an arrow moves a splitter'
press_key Escape
tick=$(state 'd["cursor"]["tick"]')
press_key Right
holds "d['walk'] == '' and d['cursor']['tick'] != $tick" 'without a focus an arrow steps'
press_key ctrl+f
holds 'd["find"]["count"] == ""' 'Ctrl+F opens a field'
xdotool type --window "$id" --delay 60 the
next
holds 'd["find"]["query"] == "the" and d["find"]["matches"] > 1' 'what is typed is looked for'
press_key Return
holds 'd["find"]["count"].endswith(" of %d" % d["find"]["matches"]) and d["focus"]["locked"] > 0' 'Enter goes to one'
found=$(state 'd["find"]["count"]')
press_key Return
holds "d['find']['count'] != '$found'" 'and to the next'
press_key shift+Return
holds "d['find']['count'] == '$found'" 'Shift+Enter goes back'
press_key Escape
holds '"find" not in d' 'Escape closes the field'
xdotool mousemove --window "$id" $(state '"%d %d" % tuple(d["targets"]["about text"][i] + d["targets"]["about text"][i + 2] / 2 for i in (0, 1))')
next
holds 'd["tooltip"]' 'what lies under the mouse is explained'
press_key Right
holds 'not d["tooltip"]' 'and after a key not any more'
xdotool mousemove_relative 1 0
next
holds 'd["tooltip"]' 'until the mouse moves'
xdotool mousemove 10000 10000
press_key F2
walk model
press_key Return
holds 'd["popups"] == 1' 'Enter opens a list of the run bar'
press_key Escape
holds 'd["popups"] == 0' 'and Escape closes it'
press_key Tab
press_key shift+Tab
holds 'd["walk"] == "model"' 'Shift+Tab goes back'
walked
finish

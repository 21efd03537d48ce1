# Real keys without a mouse: the menu of a tab hides a curve and moves the panel, a panel in a window of its own takes keys, F6 goes from
# window to window, and a range of steps is set without the timeline.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
walking 250 "$TRIESCOPE_SOURCE/assets/lessons/prune.tscap"
press_key ctrl+3
# The menu of a tab hides a curve of the memory panel and moves the panel.
walk tab\ memory
press_key Return
holds '"memory" in d["panels"] and d["views"]["memory"] == "lines"' 'the memory panel with all its curves'
press_key Menu
holds 'd["popups"] == 1' 'the Menu key opens what a tab offers'
for _ in 1 2 3; do press_key Up; done  # from the first entry around to the last ones
press_key Return
holds '"hidden=" in d["views"]["memory"] and d["popups"] == 0' 'Enter hides a curve'
walk tab\ memory
pane=$(state 'd["panes"]["panes"]')
press_key Menu
press_key Return
holds "d['panes']['panes'] != $pane and d['popups'] == 0" 'the first entry moves the panel to the next pane'
# F6 goes to a floating window and back. Keys go to the window with the focus, which changes while they are down.
press_key() { xdotool key "$1"; sleep 0.1; next; }
press_key ctrl+u
holds 'len(d["panes"]["floating"]) == 1' 'Ctrl+U takes the panel out'
floating=$(state 'd["panes"]["floating"][0]["panes"]["panels"][0]')
walk panel\ $floating  # a new window has the keys
press_key Right
holds "d['walk'] == 'panel $floating'" 'keys are that panel'"'"'s'
press_key F6
holds "d['walk'] not in ('', 'panel $floating')" 'F6 puts the focus into the first window'
press_key F6
holds "d['walk'] == 'panel $floating'" 'and back to where it was'
press_key F6
# A range is set without the timeline.
press_key Escape
press_key Escape
press_key Home
press_key Right
press_key shift+Home
press_key Right
press_key shift+End
holds '"range" in d and d["range"][0] <= d["range"][1] < d["end"]["step"]' 'a range from one step to another'
press_key Escape
holds '"range" not in d' 'Escape clears it'
walked
finish

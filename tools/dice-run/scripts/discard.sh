# Removes what was copied for this dice-run, as after a copy that has filled the disk.
rm -rf "$base/$token.part"

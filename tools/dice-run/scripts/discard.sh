# Removes what was copied for this dice-run, for example after a copy that filled the disk.
rm -rf "$base/$token.part"

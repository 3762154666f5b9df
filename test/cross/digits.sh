#!/bin/sh
# digits.sh ROOT BUILD SYSROOT ONNX2HPP QEMU PC_DIGITS MPIRUN: makes SYSROOT from Debian's packages if it does not exist, builds
# examples/digits for 64-bit ARM in BUILD, and runs it under qemu: alone, and as one rank of a job whose other rank is PC_DIGITS,
# this machine's own digits. The results must be those of the example. Exits with 77 if the packages cannot be downloaded.
set -eu
root=$1 build=$2 sysroot=$3 onnx2hpp=$4 qemu=$5 pc_digits=$6 mpirun=$7

began=$(date +%s)
step() {
  echo "$(($(date +%s) - began)) s: $*"
}
if [ ! -e "$sysroot" ]; then
  step "makes the sysroot"
  "$root/scripts/sysroot" debian "$sysroot"
fi
step "builds digits for aarch64"
mkdir -p "$build"
cmake --preset aarch64 -S "$root" -B "$build" "-DDICE_SYSROOT=$sysroot" "-DDICE_ONNX2HPP=$onnx2hpp" -DDICE_CUDA=OFF \
  >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
grep -- '-- dice: ' "$build/log"
cmake --build "$build" --target digits --parallel 2 >"$build/log" || { cat "$build/log"; exit 1; }
digits=$build/examples/digits/digits
set -- --input "$root/examples/digits/digits_in.npy" --expect "$root/examples/digits/digits_out.npy"

step "aarch64 alone"
"$qemu" -L "$sysroot" "$digits" --transport in-process "$@"

# Hosts are two names for this machine, which takes a namespace (as root, or one of the user's own). `board` starts its rank by
# the sysroot's daemon of Open MPI (a copy of a board has none).
orted=$sysroot/usr/bin/orted
if [ -e "$orted" ]; then orted="$qemu -L $sysroot $orted"; else orted=orted; fi
as_host='unshare --uts'
[ "$(id -u)" = 0 ] || as_host='unshare --map-root-user --uts'
if ! $as_host true; then
  step "aarch64 and $(uname -m) on one host, since there are no namespaces here"
  "$mpirun" -n 1 "$pc_digits" "$@" : -n 1 "$qemu" -L "$sysroot" "$digits" "$@"
  exit
fi
cat >"$build/agent" <<END
#!/bin/sh
# agent HOST COMMAND…: what mpirun calls in place of ssh
host=\$1
shift
exec $as_host sh -c 'hostname "\$0" && exec sh -c "\$1"' "\$host" "\$(echo "\$*" | sed 's|[^ ]*orted |$orted |')"
END
chmod +x "$build/agent"
export OMPI_MCA_plm_rsh_agent="$build/agent"
for order in pc,board board,pc; do
  step "$(uname -m) and aarch64 on two hosts: $order"
  first=$pc_digits second="$qemu -L $sysroot $digits"
  [ "$order" = pc,board ] || { first=$second; second=$pc_digits; }
  # shellcheck disable=SC2086  # words
  $as_host sh -c 'hostname pc && exec "$@"' sh "$mpirun" -n 1 --host "${order%,*}" $first "$@" : \
    -n 1 --host "${order#*,}" $second "$@" >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
  cat "$build/log"
  for line in "0 *${order%,*}" "1 *${order#*,}"; do
    grep -q "^$line " "$build/log" || { echo "not on these hosts"; exit 1; }
  done
done
step "done"

# Describes what a job needs of this host, in lines "KEY VALUE". The caller has set `folder`, where deployments go. Needs only sh,
# coreutils and grep; what findmnt and ip would say is not known without them. DICE_RUN_ROOT: files are read below this folder, for
# tests.
export LC_ALL=C
PATH=$PATH:/sbin:/usr/sbin root=$DICE_RUN_ROOT
echo "architecture $(uname -m)"
# A 64-bit kernel may have a system of 32 bits. Each of these may be missing.
echo "bits $(getconf LONG_BIT 2>/dev/null)"
echo "debian $(dpkg --print-architecture 2>/dev/null)"
for loader in "$root"/lib*/ld-linux* "$root"/lib/ld-musl-*; do
  [ ! -e "$loader" ] || echo "loader ${loader##*/}"
done
echo "libc $(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)"
while IFS= read -r line; do
  case $line in processor* | 'model name'* | 'cpu MHz'* | 'CPU part'* | 'CPU implementer'*) echo "cpuinfo $line" ;;
    flags* | Features*) flags=$line ;;
  esac
done <"$root/proc/cpuinfo"
echo "flags $flags"
command -v mpirun >/dev/null && mpirun --version 2>&1 | while read -r line; do echo "mpirun $line"; done
# The options of the file system that has the folder; the last line counts.
top=$folder
while [ ! -d "$top" ] && [ "$top" != / ]; do top=$(dirname "$top"); done
findmnt -no OPTIONS -T "$top" 2>/dev/null | while read -r options; do echo "mount $options"; done
ip -o -4 addr show up 2>/dev/null | while read -r number interface family address rest; do echo "network $interface $address"; done
# Whether the networks of jobs that this host starts are chosen already: in the environment, Open MPI's files, or the deployment.
{
  env | grep -E '^(OMPI|PRTE)_MCA_'
  cat "${link-}/run" "$HOME/.openmpi/mca-params.conf" "$HOME/.prte/mca-params.conf" /etc/openmpi/*-mca-params.conf /usr/local/etc/*-mca-params.conf
} 2>/dev/null | grep -qE '^[^#]*_if_(in|ex)clude' && echo "networks chosen"
:

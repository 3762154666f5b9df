# Describes this host in lines "KEY VALUE"; facts.sh follows. $1: where deployments go. $2, …: the other hosts, which must let this
# one in. Needs only sh and coreutils. Prints "ready" first, and then the time for each line of input until "go". DICE_RUN_ROOT:
# files are read below this folder, for tests.
export LC_ALL=C
root=$DICE_RUN_ROOT folder=$1
shift
echo ready
while read -r line && [ "$line" != go ]; do date "+clock %s.%N"; done

# The file $2 as lines that begin with $1.
file() {
  [ ! -r "$root$2" ] || while read -r line || [ -n "$line" ]; do printf '%s %s\n' "$1" "$line"; done <"$root$2"
}
has() { command -v "$1" >/dev/null 2>&1; }

echo "hostname $(cat "$root/proc/sys/kernel/hostname")"
echo "user $(id -un)"
echo "address $(set -- $SSH_CONNECTION; echo "$3")"
file system /etc/os-release
file boot /proc/sys/kernel/random/boot_id
for name in model compatible; do
  [ ! -r "$root/proc/device-tree/$name" ] || echo "$name $(tr '\000' ' ' <"$root/proc/device-tree/$name")"
done
file tegra /etc/nv_tegra_release
for cpu in "$root"/sys/devices/system/cpu/cpu[0-9]*; do
  on=1 khz='' siblings=''
  [ ! -r "$cpu/online" ] || read -r on <"$cpu/online"
  [ ! -r "$cpu/cpufreq/cpuinfo_max_freq" ] || read -r khz <"$cpu/cpufreq/cpuinfo_max_freq"
  [ ! -r "$cpu/topology/thread_siblings_list" ] || read -r siblings <"$cpu/topology/thread_siblings_list"
  [ "$on" = 0 ] || echo "core ${cpu##*/cpu} ${khz:--} ${siblings:--}"
done
file memory /proc/meminfo
place=$folder
while [ ! -d "$place" ] && [ "$place" != / ]; do place=$(dirname "$place"); done
echo "disk $(df -Pk "$place" | tail -n 1)"
PATH=$PATH:/sbin:/usr/sbin
has ldconfig && ldconfig -p | while read -r name rest; do
  case $name in libmpi.so.* | libboost_mpi.so.* | libboost_serialization.so.* | libgomp.so.* | libstb.so.* | libstdc++.so.*) echo "library $name" ;; esac
done
has perl && echo "perl yes"
has rsync && echo "rsync yes"
has nvidia-smi && nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader 2>&1 | while read -r line; do echo "gpu $line"; done
# What the processors may draw, in µW, and what they have drawn before and after a second, in µJ: by RAPL. Only root may read the latter.
for zone in "$root"/sys/class/powercap/*-rapl:*; do
  kind='' limit='' before='' after=''
  [ ! -r "$zone/name" ] || read -r kind <"$zone/name"
  case $kind in package-*) ;; *) continue ;; esac
  [ ! -r "$zone/constraint_0_power_limit_uw" ] || read -r limit <"$zone/constraint_0_power_limit_uw"
  [ ! -r "$zone/energy_uj" ] || { read -r before; } <"$zone/energy_uj"
  [ ! "$before" ] || { sleep 1 && read -r after <"$zone/energy_uj"; }
  echo "power ${limit:-0} ${before:-0} ${after:-0}"
done
# One core fills memory, which gives some idea of its speed. The best of three counts.
for i in 1 2 3; do echo "fill $(dd if=/dev/zero of=/dev/null bs=64M count=4 2>&1 | tail -n 1)"; done

# As mpirun would do it.
agent=${PRTE_MCA_plm_ssh_agent:-${OMPI_MCA_plm_rsh_agent:-ssh -o BatchMode=yes -o ConnectTimeout=5}}  # of Open MPI 5.0, of 4.1
i=0
for host; do
  (said=$(timeout 15 $agent "$host" true 2>&1) && echo "reaches $i" || echo "refused $i $(echo "$said" | tr -d '\r' | tail -n 1)") &
  i=$((i + 1))
done
wait

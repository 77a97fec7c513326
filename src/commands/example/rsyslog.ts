import { accessComment, type Shipped } from './shipped.ts';

/** Smaller ones are rsyslog's own default. */
const MESSAGE_BYTES_MIN = 8192;

/** For rsyslog 8.2006 or later. */
export function rsyslog({ dir, lineBytesMax }: Shipped): string {
  return `# viewlog -> rsyslog 8.2006 or later, such as /etc/rsyslog.d/viewlog.conf
#
${accessComment('syslog', dir)}

# Where it keeps its place in each file; and --max-view, or longer lines would be cut up.
global(workDirectory="/var/spool/rsyslog" maxMessageSize="${Math.max(MESSAGE_BYTES_MIN, lineBytesMax)}")

module(load="imfile" mode="inotify")
module(load="mmjsonparse")

# Nothing else than views: refused-*.ndjson are those that were not taken. What is there already is
# read from its start; files are never truncated.
input(type="imfile" File="${dir}/views-*.ndjson" Tag="viewlog:"
      ruleset="viewlog" freshStartTail="off" reopenOnTruncate="off"
      persistStateInterval="1000" persistStateAfterSubmission="on")

# The line as it is stored.
template(name="viewlog" type="string" string="%msg%\\n")

# The same for a syslog server. When the view was taken is the event's time: each line has its ts
# in the same place.
template(name="viewlogSyslog" type="string"
         string="<134>1 %msg:9:32% %hostname% viewlog - view - %msg%\\n")

# Without a queue of its own in memory: its place moves on once the destination has the line.
ruleset(name="viewlog" queue.type="Direct") {
  action(type="mmjsonparse" cookie="")
  # What a crash left of a line is no JSON; it was never acknowledged. But views nested more than
  # 30 levels deep, which this parser does not take, are shipped.
  if $parsesuccess == "OK" or re_match($msg, '[}]$') then {
    # ---- Put the real destination here, in place of the file. ----
    # After a crash a few lines come twice: let it drop what has an id ($!id) that it has already.
    # A syslog server: action(type="omfwd" target="HOST" port="514" protocol="tcp"
    #                         template="viewlogSyslog" action.resumeRetryCount="-1")
    action(type="omfile" file="/var/log/viewlog-shipped.ndjson" template="viewlog"
           fileCreateMode="0640")
  }
}`;
}

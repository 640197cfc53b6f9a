#!/bin/sh
# Installs a Java for the tests on Spark where it is missing and may be installed.
# Never fails: without it those tests are skipped, and say so.

# Where Spark's own scripts look: JAVA_HOME if that is set, else the path.
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
version=$("$java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p')
if [ "${version:-0}" -ge 17 ]; then exit 0; fi

as_root=
if [ "$(id -u)" != 0 ]; then as_root="sudo -n"; fi

# A JAVA_HOME with an older Java would still be the one that is used.
if [ -z "$JAVA_HOME" ] && command -v apt-get > /dev/null && $as_root true 2> /dev/null; then
  echo "Installing Java 17, which the tests on Spark need"
  patience="-o Acquire::Retries=1 -o Acquire::http::Timeout=20"
  # shellcheck disable=SC2086  # both are several words
  if $as_root apt-get $patience update -qq > /dev/null &&
    $as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get $patience install -y -qq --no-install-recommends openjdk-17-jre-headless > /dev/null; then
    exit 0
  fi
fi

echo "No Java 17: the tests on Spark will be skipped (apt-get install openjdk-17-jre-headless, or set JAVA_HOME)"

#!/bin/sh
# Installs Chromium for the tests of the pages where it is missing and may be installed.
# Never fails: without it those tests are skipped, and say so.

for name in "${SOTTOVOCE_CHROMIUM:-chromium}" chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" > /dev/null; then exit 0; fi
done

as_root=
if [ "$(id -u)" != 0 ]; then as_root="sudo -n"; fi

if command -v apt-get > /dev/null && $as_root true 2> /dev/null; then
  echo "Installing Chromium, which the tests of the pages need"
  patience="-o Acquire::Retries=1 -o Acquire::http::Timeout=20"
  # shellcheck disable=SC2086  # both are several words
  if $as_root apt-get $patience update -qq > /dev/null &&
    $as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get $patience install -y -qq --no-install-recommends chromium > /dev/null; then
    exit 0
  fi
fi

echo "No Chromium: the tests of the pages will be skipped (apt-get install chromium, or set SOTTOVOCE_CHROMIUM)"

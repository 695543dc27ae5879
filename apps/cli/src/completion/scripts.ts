/** Each asks `phalanx completion words`, so that it never has to be made again. Without an answer, files are offered. */
export const completionScripts = {
  bash: `_phalanx() {
  local IFS=$'\\n'
  COMPREPLY=($(phalanx completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  COMPREPLY=("\${COMPREPLY[@]// /\\\\ }")
}
complete -o default -F _phalanx phalanx
`,
  zsh: `#compdef phalanx
_phalanx() {
  local -a found
  found=("\${(@f)$(phalanx completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _phalanx phalanx
`,
  fish: `complete -c phalanx -a '(phalanx completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
} as const;

/**
 * One script a shell. Each asks `rmm __complete` for lines of `candidate<TAB>description` that already fit.
 * Names come from the server: they are quoted, and never expanded by the shell.
 */
export const scripts: Readonly<Record<string, string>> = {
  bash: `# rmm completion for bash: source <(rmm completion bash)
_rmm() {
  local line word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    [ -z "$line" ] && continue
    case "$word" in
      # What has begun with a quote goes on as it is; what would end the quote, or be expanded in it, is left out.
      \\"*) case "$line" in *[\\"\\$\\\`\\\\]*|*![^=\\ ]*) ;; *) COMPREPLY+=("$line") ;; esac ;;
      \\'*) case "$line" in *\\'*) ;; *) COMPREPLY+=("$line") ;; esac ;;
      *) COMPREPLY+=("$(printf '%q' "$line")") ;;
    esac
  done < <(rmm __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _rmm rmm
`,
  zsh: `#compdef rmm
# rmm completion for zsh: rmm completion zsh > a folder of $fpath, as _rmm
_rmm() {
  local line name
  local -a candidates
  for line in "\${(@f)$(rmm __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z "$line" ]] && continue
    name="\${line%%$'\\t'*}"
    candidates+=("\${name//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'rmm' candidates
}
if [ "$funcstack[1]" = "_rmm" ]; then _rmm "$@"; else compdef _rmm rmm; fi
`,
  fish: `# rmm completion for fish: rmm completion fish | source
function __rmm_complete
  set -l words (commandline -opc)
  rmm __complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c rmm -f -a '(__rmm_complete)'
`,
  powershell: `# rmm completion for PowerShell: rmm completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName rmm -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  rmm __complete -- @words 2>$null | ForEach-Object {
    $name, $about = $_ -split "\`t", 2
    if (-not $about) { $about = $name }
    $text = if ($name -match '[^\\w.@:/=-]') { "'" + ($name -replace "'", "''") + "'" } else { $name }
    [System.Management.Automation.CompletionResult]::new($text, $name, 'ParameterValue', $about)
  }
}
`,
};

# bash completion for dayshift
_dayshift() {
    local words=() word last=0 line candidate current directive
    # bash breaks words at = and :
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if ((${#words[@]})) && [[ $word == [=:]* || ${words[last]} == *[=:] ]]; then
            words[last]+=$word
        else
            words+=("$word")
            last=$((${#words[@]} - 1))
        fi
    done
    COMPREPLY=()
    while IFS= read -r line; do
        candidate=${line%%$'\t'*}
        case $candidate in
            :*) directive=${candidate#:} ;;
            *) COMPREPLY+=("$candidate") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
    if [[ $directive == 0 ]]; then
        compopt -o default 2>/dev/null
    fi
}
complete -F _dayshift dayshift

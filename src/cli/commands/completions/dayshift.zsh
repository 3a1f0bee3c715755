#compdef dayshift
_dayshift() {
    local -a lines candidates
    local line directive
    lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    for line in "${lines[@]}"; do
        case $line in
            :*) directive=${line#:} ;;
            ?*) line=${line//:/\\:}; candidates+=("${line/$'\t'/:}") ;;
        esac
    done
    [[ $PREFIX == -*=* ]] && compset -P '*='
    if [[ $directive == 0 ]]; then
        _files
    else
        _describe dayshift candidates
    fi
}
compdef _dayshift dayshift

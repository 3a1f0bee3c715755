# fish completion for dayshift
function __dayshift_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l flag (string match -r -- '^-.*=' "$last")
    for line in ($words[1] __complete $words[2..-1] "$last" 2>/dev/null)
        switch $line
            case ':0'
                __fish_complete_path "$last"
            case ':*'
            case '*'
                echo "$flag$line"
        end
    end
end
complete -c dayshift -f -a '(__dayshift_complete)'

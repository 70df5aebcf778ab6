// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-FileCopyrightText: Soumith Chintala 2016
// SPDX-FileCopyrightText: 2004-2022, Facebook.
// SPDX-License-Identifier: LGPL-2.1-or-later AND BSD-3-Clause
#include "label_lists.h"

#include "base/compose.h"
#include "base/descriptor.h"
#include "base/terminal.h"
#include "host/error.h"

extern "C" {
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <libavutil/error.h>
#include <string_view>
#include <sys/stat.h>
}

#include <algorithm>

namespace dnn_torch
{
namespace
{

constexpr size_t most_bytes = size_t{4} << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void refuse(const std::string &path, int error, std::string_view words)
{
    throw Error(AVERROR(error), concat("labels=", path, " ", words));
}

Descriptor open_file(const std::string &path)
{
    // O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
    Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat about = {};
    if (!file.is_open() || fstat(file.get(), &about) != 0)
        refuse(path, errno, concat("cannot be read: ", strerror(errno)));
    if (!S_ISREG(about.st_mode))
        refuse(path, EINVAL, "is no file; name a text file with a label in each line");
    return file;
}

std::string content_of(const std::string &path)
{
    const Descriptor file = open_file(path);
    std::string text;
    char piece[16384];
    for (;;) {
        const ssize_t size = read(file.get(), piece, sizeof(piece));
        if (size == 0)
            return text;
        if (size < 0 && errno != EINTR)
            refuse(path, errno, concat("cannot be read: ", strerror(errno)));
        if (size > 0)
            text.append(piece, static_cast<size_t>(size));
        if (text.size() > most_bytes)
            refuse(path, EINVAL,
                   concat("is larger than ", most_bytes >> 20,
                          " MiB; name a text file with a label in each line"));
    }
}

bool is_label(std::string_view text)
{
    while (!text.empty()) {
        const size_t length = character_length(text);
        const auto first = static_cast<unsigned char>(text.front());
        const bool is_late_control = // U+0080 to U+009F
            length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
        const bool is_control = (first < ' ' && first != '\t') || first == 0x7F || is_late_control;
        if (length == 0 || is_control)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string_view trimmed(std::string_view line)
{
    constexpr std::string_view blanks = " \t\r";
    const size_t begin = line.find_first_not_of(blanks);
    if (begin == line.npos)
        return {};
    return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
}

std::vector<std::string> lines_of(const std::string &path, std::string_view text)
{
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        if (!is_label(line))
            refuse(path, EINVAL,
                   concat("is no text in UTF-8 in line ", lines.size() + 1,
                          "; name a text file with a label in each line"));
        lines.emplace_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

// The names of torchvision 0.14 (torchvision/models/_meta.py), separated by commas.  The first is
// the background, which models without one do not count.  COCO numbers 90 classes but names only
// 80: models without gaps count only these.
constexpr std::string_view coco = R"(
background, person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light,
fire hydrant,, stop sign, parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant,
bear, zebra, giraffe,, backpack, umbrella,, , handbag, tie, suitcase, frisbee, skis, snowboard,
sports ball, kite, baseball bat, baseball glove, skateboard, surfboard, tennis racket, bottle,,
wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, broccoli, carrot,
hot dog, pizza, donut, cake, chair, couch, potted plant, bed,, dining table,, , toilet,, tv,
laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator,,
book, clock, vase, scissors, teddy bear, hair drier, toothbrush)";

constexpr std::string_view voc = R"(
background, aeroplane, bicycle, bird, boat, bottle, bus, car, cat, chair, cow, diningtable, dog,
horse, motorbike, person, pottedplant, sheep, sofa, train, tvmonitor)";

constexpr std::string_view imagenet = R"(
background, tench, goldfish, great white shark, tiger shark, hammerhead, electric ray, stingray,
cock, hen, ostrich, brambling, goldfinch, house finch, junco, indigo bunting, robin, bulbul,
jay, magpie, chickadee, water ouzel, kite, bald eagle, vulture, great grey owl, European fire
salamander, common newt, eft, spotted salamander, axolotl, bullfrog, tree frog, tailed frog,
loggerhead, leatherback turtle, mud turtle, terrapin, box turtle, banded gecko, common iguana,
American chameleon, whiptail, agama, frilled lizard, alligator lizard, Gila monster, green
lizard, African chameleon, Komodo dragon, African crocodile, American alligator, triceratops,
thunder snake, ringneck snake, hognose snake, green snake, king snake, garter snake, water
snake, vine snake, night snake, boa constrictor, rock python, Indian cobra, green mamba, sea
snake, horned viper, diamondback, sidewinder, trilobite, harvestman, scorpion, black and gold
garden spider, barn spider, garden spider, black widow, tarantula, wolf spider, tick, centipede,
black grouse, ptarmigan, ruffed grouse, prairie chicken, peacock, quail, partridge, African
grey, macaw, sulphur-crested cockatoo, lorikeet, coucal, bee eater, hornbill, hummingbird,
jacamar, toucan, drake, red-breasted merganser, goose, black swan, tusker, echidna, platypus,
wallaby, koala, wombat, jellyfish, sea anemone, brain coral, flatworm, nematode, conch, snail,
slug, sea slug, chiton, chambered nautilus, Dungeness crab, rock crab, fiddler crab, king crab,
American lobster, spiny lobster, crayfish, hermit crab, isopod, white stork, black stork,
spoonbill, flamingo, little blue heron, American egret, bittern, crane bird, limpkin, European
gallinule, American coot, bustard, ruddy turnstone, red-backed sandpiper, redshank, dowitcher,
oystercatcher, pelican, king penguin, albatross, grey whale, killer whale, dugong, sea lion,
Chihuahua, Japanese spaniel, Maltese dog, Pekinese, Shih-Tzu, Blenheim spaniel, papillon, toy
terrier, Rhodesian ridgeback, Afghan hound, basset, beagle, bloodhound, bluetick, black-and-tan
coonhound, Walker hound, English foxhound, redbone, borzoi, Irish wolfhound, Italian greyhound,
whippet, Ibizan hound, Norwegian elkhound, otterhound, Saluki, Scottish deerhound, Weimaraner,
Staffordshire bullterrier, American Staffordshire terrier, Bedlington terrier, Border terrier,
Kerry blue terrier, Irish terrier, Norfolk terrier, Norwich terrier, Yorkshire terrier,
wire-haired fox terrier, Lakeland terrier, Sealyham terrier, Airedale, cairn, Australian
terrier, Dandie Dinmont, Boston bull, miniature schnauzer, giant schnauzer, standard schnauzer,
Scotch terrier, Tibetan terrier, silky terrier, soft-coated wheaten terrier, West Highland white
terrier, Lhasa, flat-coated retriever, curly-coated retriever, golden retriever, Labrador
retriever, Chesapeake Bay retriever, German short-haired pointer, vizsla, English setter, Irish
setter, Gordon setter, Brittany spaniel, clumber, English springer, Welsh springer spaniel,
cocker spaniel, Sussex spaniel, Irish water spaniel, kuvasz, schipperke, groenendael, malinois,
briard, kelpie, komondor, Old English sheepdog, Shetland sheepdog, collie, Border collie,
Bouvier des Flandres, Rottweiler, German shepherd, Doberman, miniature pinscher, Greater Swiss
Mountain dog, Bernese mountain dog, Appenzeller, EntleBucher, boxer, bull mastiff, Tibetan
mastiff, French bulldog, Great Dane, Saint Bernard, Eskimo dog, malamute, Siberian husky,
dalmatian, affenpinscher, basenji, pug, Leonberg, Newfoundland, Great Pyrenees, Samoyed,
Pomeranian, chow, keeshond, Brabancon griffon, Pembroke, Cardigan, toy poodle, miniature poodle,
standard poodle, Mexican hairless, timber wolf, white wolf, red wolf, coyote, dingo, dhole,
African hunting dog, hyena, red fox, kit fox, Arctic fox, grey fox, tabby, tiger cat, Persian
cat, Siamese cat, Egyptian cat, cougar, lynx, leopard, snow leopard, jaguar, lion, tiger,
cheetah, brown bear, American black bear, ice bear, sloth bear, mongoose, meerkat, tiger beetle,
ladybug, ground beetle, long-horned beetle, leaf beetle, dung beetle, rhinoceros beetle, weevil,
fly, bee, ant, grasshopper, cricket, walking stick, cockroach, mantis, cicada, leafhopper,
lacewing, dragonfly, damselfly, admiral, ringlet, monarch, cabbage butterfly, sulphur butterfly,
lycaenid, starfish, sea urchin, sea cucumber, wood rabbit, hare, Angora, hamster, porcupine, fox
squirrel, marmot, beaver, guinea pig, sorrel, zebra, hog, wild boar, warthog, hippopotamus, ox,
water buffalo, bison, ram, bighorn, ibex, hartebeest, impala, gazelle, Arabian camel, llama,
weasel, mink, polecat, black-footed ferret, otter, skunk, badger, armadillo, three-toed sloth,
orangutan, gorilla, chimpanzee, gibbon, siamang, guenon, patas, baboon, macaque, langur,
colobus, proboscis monkey, marmoset, capuchin, howler monkey, titi, spider monkey, squirrel
monkey, Madagascar cat, indri, Indian elephant, African elephant, lesser panda, giant panda,
barracouta, eel, coho, rock beauty, anemone fish, sturgeon, gar, lionfish, puffer, abacus,
abaya, academic gown, accordion, acoustic guitar, aircraft carrier, airliner, airship, altar,
ambulance, amphibian, analog clock, apiary, apron, ashcan, assault rifle, backpack, bakery,
balance beam, balloon, ballpoint, Band Aid, banjo, bannister, barbell, barber chair, barbershop,
barn, barometer, barrel, barrow, baseball, basketball, bassinet, bassoon, bathing cap, bath
towel, bathtub, beach wagon, beacon, beaker, bearskin, beer bottle, beer glass, bell cote, bib,
bicycle-built-for-two, bikini, binder, binoculars, birdhouse, boathouse, bobsled, bolo tie,
bonnet, bookcase, bookshop, bottlecap, bow, bow tie, brass, brassiere, breakwater, breastplate,
broom, bucket, buckle, bulletproof vest, bullet train, butcher shop, cab, caldron, candle,
cannon, canoe, can opener, cardigan, car mirror, carousel, carpenter's kit, carton, car wheel,
cash machine, cassette, cassette player, castle, catamaran, CD player, cello, cellular
telephone, chain, chainlink fence, chain mail, chain saw, chest, chiffonier, chime, china
cabinet, Christmas stocking, church, cinema, cleaver, cliff dwelling, cloak, clog, cocktail
shaker, coffee mug, coffeepot, coil, combination lock, computer keyboard, confectionery,
container ship, convertible, corkscrew, cornet, cowboy boot, cowboy hat, cradle, crane, crash
helmet, crate, crib, Crock Pot, croquet ball, crutch, cuirass, dam, desk, desktop computer, dial
telephone, diaper, digital clock, digital watch, dining table, dishrag, dishwasher, disk brake,
dock, dogsled, dome, doormat, drilling platform, drum, drumstick, dumbbell, Dutch oven, electric
fan, electric guitar, electric locomotive, entertainment center, envelope, espresso maker, face
powder, feather boa, file, fireboat, fire engine, fire screen, flagpole, flute, folding chair,
football helmet, forklift, fountain, fountain pen, four-poster, freight car, French horn, frying
pan, fur coat, garbage truck, gasmask, gas pump, goblet, go-kart, golf ball, golfcart, gondola,
gong, gown, grand piano, greenhouse, grille, grocery store, guillotine, hair slide, hair spray,
half track, hammer, hamper, hand blower, hand-held computer, handkerchief, hard disc, harmonica,
harp, harvester, hatchet, holster, home theater, honeycomb, hook, hoopskirt, horizontal bar,
horse cart, hourglass, iPod, iron, jack-o'-lantern, jean, jeep, jersey, jigsaw puzzle,
jinrikisha, joystick, kimono, knee pad, knot, lab coat, ladle, lampshade, laptop, lawn mower,
lens cap, letter opener, library, lifeboat, lighter, limousine, liner, lipstick, Loafer, lotion,
loudspeaker, loupe, lumbermill, magnetic compass, mailbag, mailbox, maillot, maillot tank suit,
manhole cover, maraca, marimba, mask, matchstick, maypole, maze, measuring cup, medicine chest,
megalith, microphone, microwave, military uniform, milk can, minibus, miniskirt, minivan,
missile, mitten, mixing bowl, mobile home, Model T, modem, monastery, monitor, moped, mortar,
mortarboard, mosque, mosquito net, motor scooter, mountain bike, mountain tent, mouse,
mousetrap, moving van, muzzle, nail, neck brace, necklace, nipple, notebook, obelisk, oboe,
ocarina, odometer, oil filter, organ, oscilloscope, overskirt, oxcart, oxygen mask, packet,
paddle, paddlewheel, padlock, paintbrush, pajama, palace, panpipe, paper towel, parachute,
parallel bars, park bench, parking meter, passenger car, patio, pay-phone, pedestal, pencil box,
pencil sharpener, perfume, Petri dish, photocopier, pick, pickelhaube, picket fence, pickup,
pier, piggy bank, pill bottle, pillow, ping-pong ball, pinwheel, pirate, pitcher, plane,
planetarium, plastic bag, plate rack, plow, plunger, Polaroid camera, pole, police van, poncho,
pool table, pop bottle, pot, potter's wheel, power drill, prayer rug, printer, prison,
projectile, projector, puck, punching bag, purse, quill, quilt, racer, racket, radiator, radio,
radio telescope, rain barrel, recreational vehicle, reel, reflex camera, refrigerator, remote
control, restaurant, revolver, rifle, rocking chair, rotisserie, rubber eraser, rugby ball,
rule, running shoe, safe, safety pin, saltshaker, sandal, sarong, sax, scabbard, scale, school
bus, schooner, scoreboard, screen, screw, screwdriver, seat belt, sewing machine, shield, shoe
shop, shoji, shopping basket, shopping cart, shovel, shower cap, shower curtain, ski, ski mask,
sleeping bag, slide rule, sliding door, slot, snorkel, snowmobile, snowplow, soap dispenser,
soccer ball, sock, solar dish, sombrero, soup bowl, space bar, space heater, space shuttle,
spatula, speedboat, spider web, spindle, sports car, spotlight, stage, steam locomotive, steel
arch bridge, steel drum, stethoscope, stole, stone wall, stopwatch, stove, strainer, streetcar,
stretcher, studio couch, stupa, submarine, suit, sundial, sunglass, sunglasses, sunscreen,
suspension bridge, swab, sweatshirt, swimming trunks, swing, switch, syringe, table lamp, tank,
tape player, teapot, teddy, television, tennis ball, thatch, theater curtain, thimble, thresher,
throne, tile roof, toaster, tobacco shop, toilet seat, torch, totem pole, tow truck, toyshop,
tractor, trailer truck, tray, trench coat, tricycle, trimaran, tripod, triumphal arch,
trolleybus, trombone, tub, turnstile, typewriter keyboard, umbrella, unicycle, upright, vacuum,
vase, vault, velvet, vending machine, vestment, viaduct, violin, volleyball, waffle iron, wall
clock, wallet, wardrobe, warplane, washbasin, washer, water bottle, water jug, water tower,
whiskey jug, whistle, wig, window screen, window shade, Windsor tie, wine bottle, wing, wok,
wooden spoon, wool, worm fence, wreck, yawl, yurt, web site, comic book, crossword puzzle,
street sign, traffic light, book jacket, menu, plate, guacamole, consomme, hot pot, trifle, ice
cream, ice lolly, French loaf, bagel, pretzel, cheeseburger, hotdog, mashed potato, head
cabbage, broccoli, cauliflower, zucchini, spaghetti squash, acorn squash, butternut squash,
cucumber, artichoke, bell pepper, cardoon, mushroom, Granny Smith, strawberry, orange, lemon,
fig, pineapple, banana, jackfruit, custard apple, pomegranate, hay, carbonara, chocolate sauce,
dough, meat loaf, pizza, potpie, burrito, red wine, espresso, cup, eggnog, alp, bubble, cliff,
coral reef, geyser, lakeside, promontory, sandbar, seashore, valley, volcano, ballplayer, groom,
scuba diver, rapeseed, daisy, yellow lady's slipper, corn, acorn, hip, buckeye, coral fungus,
agaric, gyromitra, stinkhorn, earthstar, hen-of-the-woods, bolete, ear, toilet tissue)";

struct LabelList {
    std::string_view name, text;
};

constexpr LabelList lists[] = {{"coco", coco}, {"voc", voc}, {"imagenet", imagenet}};

const LabelList *find_list(std::string_view name)
{
    const auto *const found =
        std::find_if(std::begin(lists), std::end(lists),
                     [&](const LabelList &each) { return each.name == name; });
    return found == std::end(lists) ? nullptr : found;
}

// Joins a name that a line break splits.
std::string name_in(std::string_view piece)
{
    std::string name(piece);
    std::replace(name.begin(), name.end(), '\n', ' ');
    name.erase(0, name.find_first_not_of(' '));
    return name;
}

Labels names_in(std::string_view text)
{
    Labels names;
    for (;;) {
        const size_t end = std::min(text.find(','), text.size());
        names.push_back(name_in(text.substr(0, end)));
        if (end == text.size())
            return names;
        text.remove_prefix(end + 1);
    }
}

// Returns the numberings that models use for a list, the commonest first.
std::vector<Labels> numberings_of(const LabelList &list)
{
    const Labels all = names_in(list.text), things(all.begin() + 1, all.end());
    Labels named = things;
    named.erase(std::remove(named.begin(), named.end(), ""), named.end());
    if (named.size() == things.size())
        return {things, all};
    return {named, all, things};
}

std::string counts_in_words(const std::vector<Labels> &numberings)
{
    std::vector<size_t> counts;
    for (const Labels &each : numberings)
        counts.push_back(each.size());
    std::sort(counts.begin(), counts.end());
    std::string words;
    for (size_t i = 0; i + 1 < counts.size(); i++)
        add_to_list(words, std::to_string(counts[i]));
    return concat(words, " or ", counts.back());
}

} // namespace

bool is_label_list(std::string_view name)
{
    return find_list(name) != nullptr;
}

Labels labels_of_list(std::string_view name, int64_t classes, bool has_background)
{
    const LabelList *const list = find_list(name);
    if (!list)
        throw Error(AVERROR(EINVAL), concat("there are no labels '", name, "'"));
    const std::vector<Labels> numberings = numberings_of(*list);
    if (classes == 0)
        return numberings[has_background ? 1 : 0];
    for (const Labels &each : numberings)
        if (each.size() == static_cast<size_t>(classes))
            return each;
    throw Error(AVERROR(EINVAL),
                concat("labels=", name, " has names for ", counts_in_words(numberings),
                       " classes, and the model has ", classes,
                       "; labels=FILE names a text file with a label in each line"));
}

Labels labels_of(const ModelFacts &model, int64_t classes, bool has_background)
{
    return model.label_list.empty() ? model.labels
                                    : labels_of_list(model.label_list, classes, has_background);
}

std::vector<std::string> read_labels(const std::string &path)
{
    const std::string text = content_of(path);
    std::string_view rest = text;
    if (rest.starts_with(byte_order_mark))
        rest.remove_prefix(byte_order_mark.size());
    std::vector<std::string> labels = lines_of(path, rest);
    while (!labels.empty() && labels.back().empty())
        labels.pop_back();
    if (labels.empty())
        refuse(path, EINVAL, "has no labels; write one in each line");
    return labels;
}

std::string label_of(const std::vector<std::string> &labels, int number)
{
    const auto place = static_cast<size_t>(number);
    const bool has_name = number >= 0 && place < labels.size() && !labels[place].empty();
    return has_name ? labels[place] : std::to_string(number);
}

} // namespace dnn_torch
